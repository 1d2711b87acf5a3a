// impostor.js: many spheres, each a square that faces the camera; where its ray meets the sphere is found for every pixel.  Two triangles instead of hundreds.
import { BufferAttribute, BufferGeometry, ShaderMaterial, Vector3 } from 'three';

export function square() {
    const g = new BufferGeometry();
    g.setAttribute('position', new BufferAttribute(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), 3));
    g.setIndex([0, 1, 2, 0, 2, 3]);
    return g;
}

// c: the centre, r: the radius, both as the camera sees them; turn: from there to the axes of the body.
const vertex = `
varying vec3 c, at;
varying float r;
varying mat3 turn;
varying vec3 tone;
void main() {
    mat4 m = modelViewMatrix * instanceMatrix;
    c = m[3].xyz;
    r = length(m[0].xyz);
    turn = transpose(mat3(m));
    tone = vec3(1.0);
    #ifdef USE_INSTANCING_COLOR
        tone = instanceColor;
    #endif
    float far = max(length(c), 1e-20), share = min(r / far, 0.97);
    vec3 ahead = -c / far, right = normalize(cross(abs(ahead.y) < 0.99 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0), ahead));
    at = c + 1.03 * r / sqrt(1.0 - share * share) * (position.x * right + position.y * cross(ahead, right));
    gl_Position = projectionMatrix * vec4(at, 1.0);
}`;

// Light as of the sun and the sky of the scene; octants differ in shade, so that one sees the sphere turn.
const fragment = `
uniform mat4 projection;
uniform vec3 sun, sky;
varying vec3 c, at;
varying float r;
varying mat3 turn;
varying vec3 tone;
void main() {
    vec3 d = normalize(at);
    float b = dot(d, c), q = dot(d * b - c, d * b - c) / (r * r), rim = fwidth(q);
    float cover = clamp((1.0 - q) / max(rim, 1e-6) + 0.5, 0.0, 1.0);
    if (!(cover > 0.0)) discard;
    vec3 p = d * (b - r * sqrt(max(1.0 - q, 0.0))), n = (p - c) / r, body = turn * n;
    float shade = body.x * body.y * body.z < 0.0 ? 0.72 : 1.0;
    vec3 light = mix(vec3(0.254, 0.275, 0.314), vec3(1.0), 0.5 + 0.5 * dot(n, sky)) * 1.5 + 2.1 * max(dot(n, sun), 0.0);
    vec4 clip = projection * vec4(p, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
    gl_FragColor = vec4(tone * shade * light / 3.14159265, cover);
    #include <colorspace_fragment>
}`;

const shadowVertex = `
varying vec2 at;
void main() {
    vec4 c = modelViewMatrix * instanceMatrix * vec4(0.0, 0.0, 0.0, 1.0);
    at = position.xy;
    c.xy += position.xy * length(instanceMatrix[0].xyz);
    gl_Position = projectionMatrix * c;
}`;

const shadowFragment = `
#include <packing>
varying vec2 at;
void main() {
    if (dot(at, at) > 1.0) discard;
    gl_FragColor = packDepthToRGBA(gl_FragCoord.z);
}`;

/** Materials of an InstancedMesh of squares, and what keeps them true to a camera. */
export function impostor(mesh, towards) {
    mesh.material = new ShaderMaterial({ vertexShader: vertex, fragmentShader: fragment, alphaToCoverage: true, uniforms: { projection: { value: null }, sun: { value: new Vector3() }, sky: { value: new Vector3() } } });
    mesh.customDepthMaterial = new ShaderMaterial({ vertexShader: shadowVertex, fragmentShader: shadowFragment });
    mesh.castShadow = true;
    mesh.onBeforeRender = (renderer, scene, camera) => {
        const { projection, sun, sky } = mesh.material.uniforms;
        projection.value = camera.projectionMatrix;
        sun.value.copy(towards).transformDirection(camera.matrixWorldInverse);
        sky.value.set(0, 0, 1).transformDirection(camera.matrixWorldInverse);
    };
}
