// space.js: spatial drawings with three.js.  z points up.  Bundled apart: only pages of spatial models hold it.
import {
    BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, EdgesGeometry, Group, HemisphereLight,
    InstancedMesh, Line, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, PCFSoftShadowMap, PerspectiveCamera,
    PlaneGeometry, Quaternion, Scene, ShadowMaterial, SphereGeometry, Vector3, WebGLRenderer,
} from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import { bends, deflected } from './deflect.js';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

const CROWD = 80; // more shapes than this are drawn as instances, without edges
const Z = new Vector3(0, 0, 1), Y = new Vector3(0, 1, 0);
const between = (x, i, s) => s > 0 && i + 1 < x.length ? x[i] + s * (x[i + 1] - x[i]) : x[i];

// Bars and balls along a line of points, as two instanced meshes.
class Tube {
    constructor(n, material) {
        this.bars = new InstancedMesh(new CylinderGeometry(1, 1, 1, 14, 1), material, n - 1);
        this.balls = new InstancedMesh(new SphereGeometry(1, 14, 10), material, n);
        this.group = new Group();
        this.group.add(this.bars, this.balls);
        for (const m of [this.bars, this.balls]) m.castShadow = true, m.frustumCulled = false;
    }

    set(points, r) {
        const m = new Matrix4(), q = new Quaternion(), d = new Vector3(), mid = new Vector3();
        points.forEach((p, k) => {
            this.balls.setMatrixAt(k, m.compose(p, q.identity(), new Vector3(r, r, r)));
            if (k === 0) return;
            d.subVectors(p, points[k - 1]);
            const length = d.length() || 1e-12;
            q.setFromUnitVectors(Y, d.divideScalar(length));
            this.bars.setMatrixAt(k - 1, m.compose(mid.addVectors(p, points[k - 1]).multiplyScalar(0.5), q, new Vector3(r, length, r)));
        });
        this.bars.instanceMatrix.needsUpdate = this.balls.instanceMatrix.needsUpdate = true;
    }
}

// Heights over a grid, two triangles a cell: nx, ny, x, y of the first, the cell, the heights by rows.
function surface([nx, ny, x, y, dx, dy, ...z]) {
    const g = new BufferGeometry(), index = [];
    g.setAttribute('position', new BufferAttribute(new Float32Array(z.flatMap((h, v) => [x + v % nx * dx, y + Math.floor(v / nx) * dy, h])), 3));
    for (let v = 0; v < nx * (ny - 1); ++v) if (v % nx < nx - 1) index.push(v, v + 1, v + nx + 1, v, v + nx + 1, v + nx);
    g.setIndex(index);
    const flat = g.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
}

// One solid of a kind, for instances.  Octants of round ones differ in shade, so that one sees them turn.
function shaded(geometry, round) {
    const p = geometry.attributes.position, shade = new Float32Array(3 * p.count);
    for (let k = 0; k < p.count; ++k) shade.fill(round && p.getX(k) * p.getY(k) * p.getZ(k) < -1e-9 ? 0.72 : 1, 3 * k, 3 * k + 3);
    geometry.setAttribute('color', new BufferAttribute(shade, 3));
    return geometry;
}
const many = {
    sphere: () => shaded(new SphereGeometry(1, 16, 12), true), ellipsoid: () => shaded(new SphereGeometry(1, 16, 12), true), point: () => shaded(new SphereGeometry(1, 8, 6), false),
    box: () => shaded(new BoxGeometry(1, 1, 1), false), cylinder: () => shaded(new CylinderGeometry(1, 1, 1, 24).rotateX(Math.PI / 2), false),
};

const corners = x => Array.from({ length: x.length / 3 }, (_, k) => new Vector3(x[3 * k], x[3 * k + 1], x[3 * k + 2]));

class Arrow {
    constructor(scene) {
        this.material = new MeshBasicMaterial({ transparent: true });
        this.shaft = new Mesh(new CylinderGeometry(1, 1, 1, 12), this.material);
        this.head = new Mesh(new ConeGeometry(1, 1, 16), this.material);
        this.group = new Group();
        this.group.add(this.shaft, this.head);
        scene.add(this.group);
    }

    set(at, vector, thick, colour, opacity = 1) {
        const length = vector.length();
        this.group.visible = length > 2 * thick;
        if (!this.group.visible) return;
        const head = Math.min(6 * thick, 0.6 * length), shaft = length - head;
        this.group.position.copy(at);
        this.group.quaternion.setFromUnitVectors(Y, vector.clone().divideScalar(length));
        this.shaft.scale.set(thick, shaft, thick);
        this.shaft.position.set(0, shaft / 2, 0);
        this.head.scale.set(2.6 * thick, head, 2.6 * thick);
        this.head.position.set(0, shaft + head / 2, 0);
        this.material.color.set(colour);
        this.material.opacity = opacity;
    }
}

class Space {
    constructor(holder, data, contacts, colours) {
        Object.assign(this, { holder, data, contacts, colours, options: { forces: true, names: false, axes: false }, deflection: 1, follow: -1 });
        this.scratch = { m: new Matrix4(), at: new Vector3(), q: new Quaternion(), next: new Quaternion(), by: new Vector3() }; // of every frame
        this.renderer = new WebGLRenderer({ antialias: true });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = PCFSoftShadowMap;
        this.canvas = this.renderer.domElement;
        this.canvas.className = 'scene';
        holder.append(this.canvas);
        this.scene = new Scene();
        this.camera = new PerspectiveCamera(35, 1, 0.01, 1000);
        this.camera.up.copy(Z);
        this.controls = new OrbitControls(this.camera, this.canvas);
        this.controls.addEventListener('change', () => { if (!this.drawing) this.changed?.(); });
        this.canvas.addEventListener('dblclick', () => { this.fit(); this.changed?.(); });
        const deal = colours.dealer();
        const drawn = data.page.shapes.filter(s => s.figure !== 'contact');
        this.crowd = drawn.length > CROWD;
        this.shapes = drawn.map(s => this.prepare(s, deal(s)));
        this.gather();
        this.reach();
        this.lights();
        this.touch = contacts.list.map(c => ({ c, arrow: new Arrow(this.scene), dot: this.ball(0.5) }));
        this.flash = Array.from({ length: 16 }, () => ({ ball: this.ball(1), arrow: new Arrow(this.scene) }));
        this.fit();
        this.restyle();
    }

    ball(opacity) {
        const m = new Mesh(new SphereGeometry(1, 24, 16), new MeshBasicMaterial({ transparent: true, opacity, depthWrite: false }));
        this.scene.add(m);
        return m;
    }

    // -- shapes ---------------------------------------------------------------------------------------------

    prepare(s, dealt) {
        const { data } = this, channel = k => data.channel(s.at + k), size = [], point = [], turn = [];
        for (let k = 0; k < s.sizes; ++k) size.push(channel(k));
        for (let k = 0; k < s.points; ++k) point.push([0, 1, 2].map(j => channel(s.sizes + 3 * k + j)));
        for (let k = 0; k < s.turn; ++k) turn.push(channel(s.sizes + 3 * s.points + k));
        const material = new MeshLambertMaterial(), shape = { ...s, size, point, turnBy: turn, material };
        shape.paint = () => s.colour ? this.colours.colour(s.colour) : dealt === null ? this.colours.colour('grey') : this.colours.nth(dealt);
        if (s.figure === 'segment' || s.figure === 'line') shape.tube = new Tube(s.points, material);
        else if (s.figure === 'spring') shape.tube = new Tube(121, material);
        else if (this.crowd && !s.trace && s.figure in many) { shape.many = true; return shape; }
        else shape.mesh = this.solid(s.figure, material, shape);
        if (s.trace) {
            const g = new BufferGeometry(), x = new Float32Array(3 * data.rows), p = point[point.length - 1];
            for (let i = 0; i < data.rows; ++i) for (let j = 0; j < 3; ++j) x[3 * i + j] = p[j][i];
            g.setAttribute('position', new BufferAttribute(x, 3));
            shape.path = new Line(g, new LineBasicMaterial());
            shape.path.frustumCulled = false;
            this.scene.add(shape.path);
        }
        this.scene.add(shape.tube ? shape.tube.group : shape.mesh);
        return shape;
    }

    // Shapes of one kind in one call: a matrix and a colour each.
    gather() {
        this.groups = Object.keys(many).map(figure => {
            const list = this.shapes.filter(s => s.many && s.figure === figure);
            if (!list.length) return null;
            const mesh = new InstancedMesh(many[figure](), new MeshLambertMaterial({ vertexColors: true }), list.length);
            mesh.castShadow = mesh.receiveShadow = true;
            mesh.frustumCulled = false;
            this.scene.add(mesh);
            return { list, mesh };
        }).filter(Boolean);
    }

    placeMany(i, f) {
        const { m, at, q, by } = this.scratch;
        for (const { list, mesh } of this.groups) {
            for (let k = 0; k < list.length; ++k) {
                const s = list[k], [x, y, z] = s.point[0], flat = s.endless ? s.wide : 0;
                at.set(between(x, i, f), between(y, i, f), between(z, i, f));
                const a = s.size.length > 0 ? between(s.size[0], i, f) : 0, b = s.size.length > 1 ? between(s.size[1], i, f) : 0;
                this.turn(s, i, f, q);
                if (s.figure === 'box' || s.figure === 'ellipsoid') by.set(flat || a, flat || b, between(s.size[2], i, f));
                else if (s.figure === 'cylinder') by.set(a, a, b);
                else by.setScalar(s.figure === 'point' ? (s.size.length ? a / 2 : 0.011 * this.size) : a);
                if (!Number.isFinite(at.x + at.y + at.z + by.x + by.y + by.z)) by.setScalar(0), at.set(0, 0, 0);
                mesh.setMatrixAt(k, m.compose(at, q, by));
            }
            mesh.instanceMatrix.needsUpdate = true;
        }
    }

    // Floors and walls without an end reach as far as what moves, and a bit more.
    widen() {
        const corner = new Vector3();
        for (const s of this.shapes.filter(s => s.endless)) {
            const c = new Vector3(...s.point[0].map(x => x[0]));
            s.wide = 0;
            for (let k = 0; k < 8; ++k) {
                corner.set(k & 1 ? this.low.x : this.high.x, k & 2 ? this.low.y : this.high.y, k & 4 ? this.low.z : this.high.z);
                s.wide = Math.max(s.wide, 2.1 * corner.distanceTo(c));
            }
        }
    }

    solid(figure, material, shape) {
        const geometry = figure === 'hull' ? new ConvexGeometry(corners(shape.fixed)) : figure === 'surface' ? surface(shape.fixed) : figure === 'box' ? new BoxGeometry(1, 1, 1) : figure === 'cylinder' ? new CylinderGeometry(1, 1, 1, 40).rotateX(Math.PI / 2) : new SphereGeometry(1, 40, 28);
        const mesh = new Mesh(geometry, material);
        mesh.castShadow = mesh.receiveShadow = true;
        if (figure === 'point') return mesh;
        shape.lines = new LineBasicMaterial();
        if (figure === 'sphere' || figure === 'ellipsoid') { // two circles, so that one sees it turn
            const ring = axis => {
                const x = new Float32Array(3 * 97);
                for (let k = 0; k <= 96; ++k) {
                    const a = k / 48 * Math.PI, p = [Math.cos(a), Math.sin(a), 0];
                    for (let j = 0; j < 3; ++j) x[3 * k + j] = 1.004 * p[(j + axis) % 3];
                }
                const g = new BufferGeometry();
                g.setAttribute('position', new BufferAttribute(x, 3));
                return new Line(g, shape.lines);
            };
            mesh.add(ring(0), ring(1));
        } else {
            mesh.add(new LineSegments(new EdgesGeometry(geometry, figure === 'surface' || figure === 'hull' ? 5 : 30), shape.lines));
            if (figure === 'cylinder') {
                const g = new BufferGeometry();
                g.setAttribute('position', new BufferAttribute(new Float32Array([0, 0, 0.501, 1, 0, 0.501, 0, 0, -0.501, 1, 0, -0.501]), 3));
                mesh.add(new LineSegments(g, shape.lines));
            }
        }
        return mesh;
    }

    half([nx, ny, x, y, dx, dy, ...z]) {
        return [nx * dx / 2, ny * dy / 2, z.reduce((most, h) => Math.max(most, Math.abs(h)), 0)];
    }

    // Half the box around a turned box.
    turned(s, i) {
        const m = new Matrix4().makeRotationFromQuaternion(this.turn(s, i, 0, new Quaternion())).elements, a = s.size.map(x => x[i] / 2);
        return [0, 1, 2].map(k => Math.abs(m[k]) * a[0] + Math.abs(m[4 + k]) * a[1] + Math.abs(m[8 + k]) * a[2]);
    }

    // The box around everything at all times.
    reach() {
        const low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate(), step = Math.max(1, Math.floor(this.data.rows / 500));
        for (const s of this.shapes) {
            const r = s.figure === 'box' ? Math.hypot(...s.size.map(x => x[0])) / 2 : s.figure === 'sphere' ? s.size[0][0] : s.figure === 'ellipsoid' ? Math.max(...s.size.map(x => x[0])) : s.figure === 'cylinder' ? Math.hypot(s.size[0][0], s.size[1][0] / 2) : 0;
            if (s.fixed) s.radius = s.figure === 'hull' ? Math.max(...corners(s.fixed).map(c => c.length())) : 0;
            const flat = s.figure === 'hull' ? [s.radius, s.radius, s.radius] : s.figure === 'surface' ? this.half(s.fixed) : s.figure === 'box' && !s.turn ? s.size.map(x => x[0] / 2) : [r, r, r];
            for (const p of s.endless ? [] : s.point) {
                for (let i = 0; i < this.data.rows; i += step) {
                    const x = p.map(c => c[i]);
                    if (!x.every(Number.isFinite)) continue;
                    const h = s.figure === 'box' && s.turn ? this.turned(s, i) : flat;
                    low.min(new Vector3(x[0] - h[0], x[1] - h[1], x[2] - h[2]));
                    high.max(new Vector3(x[0] + h[0], x[1] + h[1], x[2] + h[2]));
                }
            }
        }
        if (!(high.x >= low.x)) low.set(-1, -1, -1), high.set(1, 1, 1);
        for (const s of this.shapes.filter(s => s.endless)) { // the nearest point of each is seen
            const c = new Vector3(...s.point[0].map(x => x[0])), mid = low.clone().add(high).multiplyScalar(0.5), n = Z.clone().applyQuaternion(this.turn(s, 0, 0, new Quaternion()));
            const foot = mid.clone().addScaledVector(n, -mid.clone().sub(c).dot(n));
            low.min(foot), high.max(foot);
        }
        Object.assign(this, { low, high, size: high.clone().sub(low).length() || 1 });
        this.widen();
    }

    lights() {
        const { low, high, size } = this, mid = low.clone().add(high).multiplyScalar(0.5), sun = new DirectionalLight(0xffffff, 2.1);
        sun.position.copy(mid).add(new Vector3(0.5, -0.8, 1.6).multiplyScalar(size));
        sun.target.position.copy(mid);
        sun.castShadow = true;
        sun.shadow.mapSize.set(1024, 1024);
        Object.assign(sun.shadow.camera, { left: -0.7 * size, right: 0.7 * size, top: 0.7 * size, bottom: -0.7 * size, near: 0.1 * size, far: 4 * size });
        sun.shadow.normalBias = 0.004 * size;
        const sky = new HemisphereLight(0xffffff, 0x8a8f98, 1.5);
        sky.position.set(0, 0, 1);
        this.scene.add(sun, sun.target, sky);
        const floor = new Mesh(new PlaneGeometry(6 * size, 6 * size), new ShadowMaterial({ opacity: 0.16 }));
        floor.position.set(mid.x, mid.y, low.z - 0.001 * size);
        floor.receiveShadow = true;
        this.scene.add(floor);
        const step = 10 ** Math.round(Math.log10(size / 8)), n = Math.ceil(1.2 * size / step), x = [];
        const cx = Math.round(mid.x / step) * step, cy = Math.round(mid.y / step) * step;
        for (let k = -n; k <= n; ++k) {
            x.push(cx + k * step, cy - n * step, low.z, cx + k * step, cy + n * step, low.z);
            x.push(cx - n * step, cy + k * step, low.z, cx + n * step, cy + k * step, low.z);
        }
        const g = new BufferGeometry();
        g.setAttribute('position', new BufferAttribute(new Float32Array(x), 3));
        this.grid = new LineSegments(g, new LineBasicMaterial());
        this.grid.position.z = -0.002 * size;
        this.scene.add(this.grid);
    }

    // Seen from `from`, how far away must the camera be so that the box around everything is in the picture?
    distance(from, aspect) {
        const right = Z.clone().cross(from).normalize(), up = from.clone().cross(right), half = this.high.clone().sub(this.low).multiplyScalar(0.5);
        const tall = Math.tan(Math.PI / 360 * this.camera.fov), wide = tall * aspect;
        const along = v => Math.abs(v.x) * half.x + Math.abs(v.y) * half.y + Math.abs(v.z) * half.z; // of the corner that is farthest that way
        return along(from) + Math.max(along(right) / wide, along(up) / tall);
    }

    fit() {
        const mid = this.low.clone().add(this.high).multiplyScalar(0.5), from = new Vector3(0.55, -1.15, 0.6).normalize(), { size, camera, controls } = this;
        const aspect = (this.holder.clientWidth || 1) / (this.holder.clientHeight || 1);
        camera.position.copy(mid).addScaledVector(from, Math.max(1.45 * size / Math.min(1, aspect), 1.05 * this.distance(from, aspect)));
        Object.assign(camera, { near: 0.01 * size, far: 20 * size });
        controls.target.copy(mid);
        this.followed = null;
        this.drawing = true;
        controls.update();
        this.drawing = false;
    }

    restyle() {
        const { ground, faint, mix, ink } = this.colours;
        this.scene.background = new Color(ground());
        this.grid.material.color.set(faint());
        const tone = new Color();
        for (const { list, mesh } of this.groups) {
            list.forEach((s, k) => mesh.setColorAt(k, tone.set(s.paint())));
            mesh.instanceColor.needsUpdate = true;
        }
        for (const s of this.shapes) {
            s.material.color.set(s.paint());
            s.lines?.color.set(mix(s.paint(), ink(), 0.55));
            s.path?.material.color.set(mix(s.paint(), ground(), 0.35));
        }
    }

    // -- a picture ------------------------------------------------------------------------------------------

    turn(s, i, f, q) {
        if (s.turn === 4) { // between two rows the short way round
            const [w, x, y, z] = s.turnBy, k = Math.min(i + 1, this.data.rows - 1);
            q.set(x[i], y[i], z[i], w[i]).normalize();
            return q.slerp(this.scratch.next.set(x[k], y[k], z[k], w[k]).normalize(), f);
        }
        if (s.turn !== 3) return q.identity();
        const v = new Vector3(...s.turnBy.map(x => between(x, i, f))), angle = v.length();
        return q.setFromAxisAngle(angle > 0 ? v.divideScalar(angle) : Z, angle);
    }

    place(s, i, f) {
        let now = s.point.map(c => c.map(x => between(x, i, f)));
        if (this.deflection !== 1 && bends(s)) now = deflected(now, s.point.map(c => c.map(x => x[0])), this.deflection);
        const p = now.map(x => new Vector3(...x)), size = s.size.map(x => between(x, i, f));
        const known = p.every(v => Number.isFinite(v.x + v.y + v.z)) && size.every(Number.isFinite);
        (s.tube ? s.tube.group : s.mesh).visible = known;
        if (s.path) s.path.geometry.setDrawRange(0, i + 1);
        if (!known) return;
        if (s.figure === 'segment' || s.figure === 'line') return s.tube.set(p, size.length ? size[0] / 2 : 0.008 * this.size);
        if (s.figure === 'spring') return this.coil(s, p, size);
        const r = s.figure === 'point' ? (size.length ? size[0] / 2 : 0.011 * this.size) : size[0];
        s.mesh.position.copy(p[0]);
        this.turn(s, i, f, s.mesh.quaternion);
        if (s.fixed) return;
        if (s.endless) s.mesh.scale.set(s.wide, s.wide, size[2]);
        else if (s.figure === 'box' || s.figure === 'ellipsoid') s.mesh.scale.set(size[0], size[1], size[2]);
        else if (s.figure === 'cylinder') s.mesh.scale.set(r, r, size[1]);
        else s.mesh.scale.setScalar(r);
    }

    coil(s, [a, b], size) {
        const d = b.clone().sub(a), length = d.length() || 1e-12, e = d.clone().divideScalar(length), r = (size.length ? size[0] : 0.05 * this.size) / 2;
        const u = new Vector3().crossVectors(e, Math.abs(e.z) < 0.9 ? Z : Y).normalize(), v = new Vector3().crossVectors(e, u), points = [];
        for (let k = 0; k <= 120; ++k) {
            const x = k / 120, w = Math.min(1, x / 0.08, (1 - x) / 0.08), angle = 16 * Math.PI * x;
            points.push(a.clone().addScaledVector(d, x).addScaledVector(u, w * r * Math.cos(angle)).addScaledVector(v, w * r * Math.sin(angle)));
        }
        s.tube.set(points, 0.003 * this.size);
    }

    draw(t, speed) {
        const { data, contacts, renderer, camera, size } = this, [i, f] = data.place(t);
        const w = this.holder.clientWidth, h = this.holder.clientHeight, ratio = Math.min(window.devicePixelRatio || 1, 2);
        if (w !== this.w || h !== this.h || ratio !== this.ratio) {
            Object.assign(this, { w, h, ratio });
            renderer.setPixelRatio(ratio);
            renderer.setSize(w, h, false);
            camera.aspect = w / Math.max(h, 1);
            camera.updateProjectionMatrix();
        }
        this.chase(i, f);
        for (const s of this.shapes) if (!s.many) this.place(s, i, f);
        this.placeMany(i, f);
        this.axes();
        const hit = this.colours.hit(), thick = 0.0045 * size;
        for (const { c, arrow, dot } of this.touch) {
            const force = contacts.size(c, i, f), closed = force > contacts.threshold, at = new Vector3(...contacts.point(c, i, f));
            const v = new Vector3(...contacts.force(c, i, f)), l = v.length(), r = l / contacts.typical;
            const tone = c.colour ? this.colours.colour(c.colour) : c.bilateral ? this.colours.colour('sky') : hit;
            arrow.group.visible = false;
            if (closed && l > 0 && this.options.forces) arrow.set(at, v.multiplyScalar(0.14 * size * (r < 1 ? r : 1 + 0.35 * Math.log(r)) / l), thick, tone);
            dot.visible = !c.bilateral;
            dot.position.copy(at);
            dot.scale.setScalar((closed ? 0.012 : 0.006) * size);
            dot.material.color.set(closed ? tone : this.colours.muted());
            dot.material.opacity = closed ? 0.95 : 0.5;
        }
        const flashes = contacts.flashes(t, speed);
        this.flash.forEach(({ ball, arrow }, k) => {
            const x = flashes[k];
            ball.visible = arrow.group.visible = false;
            if (!x) return;
            const [j, g] = data.place(x.time), at = new Vector3(...contacts.point(x.contact, j, g)), fade = (1 - x.age) ** 2;
            ball.visible = true;
            ball.position.copy(at);
            ball.scale.setScalar((0.008 + 0.05 * x.strength) * (0.3 + x.age) * size);
            ball.material.color.set(hit);
            ball.material.opacity = 0.65 * fade;
            if (!this.options.forces) return;
            const d = new Vector3(...contacts.direction(x.contact, 0, j, g)).normalize();
            arrow.set(at, d.multiplyScalar((Math.sign(x.impulse) || 1) * 0.18 * size * x.strength ** 2), 1.3 * thick, hit, 0.75 * fade);
        });
        renderer.render(this.scene, camera);
        this.names(i, f);
    }

    // The camera moves with the middle of a shape.
    chase(i, f) {
        const s = this.shapes[this.follow];
        if (!s) { this.followed = null; return; }
        const at = new Vector3(...[0, 1, 2].map(j => s.point.reduce((sum, p) => sum + between(p[j], i, f), 0) / s.point.length));
        if (!Number.isFinite(at.x + at.y + at.z)) return;
        if (this.followed) {
            const d = at.clone().sub(this.followed);
            this.camera.position.add(d);
            this.controls.target.add(d);
        }
        this.followed = at;
    }

    axes() {
        this.cross ||= ['red', 'green', 'blue'].map((c, k) => ({ c, arrow: new Arrow(this.scene), way: new Vector3(...[0, 1, 2].map(j => +(j === k))) }));
        for (const { c, arrow, way } of this.cross) {
            arrow.group.visible = false;
            if (this.options.axes) arrow.set(new Vector3(), way.clone().multiplyScalar(0.2 * this.size), 0.004 * this.size, this.colours.colour(c));
        }
    }

    names(i, f) {
        this.labels ||= [];
        for (const l of this.labels) l.remove();
        this.labels = [];
        if (!this.options.names && !this.options.axes) return;
        const put = (text, p) => {
            const x = new Vector3(...p).project(this.camera), e = document.createElement('span');
            if (x.z > 1) return;
            e.className = 'tag';
            e.textContent = text;
            e.style.transform = `translate(${(0.5 + 0.5 * x.x) * this.w + 6}px, ${(0.5 - 0.5 * x.y) * this.h - 18}px)`;
            this.holder.append(e);
            this.labels.push(e);
        };
        if (this.options.axes) ['x', 'y', 'z'].forEach((text, k) => put(this.data.lengthUnit ? `${text} (${this.data.lengthUnit})` : text, [0, 1, 2].map(j => (j === k ? 0.22 * this.size : 0))));
        if (!this.options.names) return;
        for (const s of this.shapes) put(s.name, [0, 1, 2].map(j => s.point.reduce((sum, p) => sum + between(p[j], i, f), 0) / s.point.length));
        for (const { c } of this.touch) put(c.name, this.contacts.point(c, i, f));
    }
}

window.caromSpace = (holder, data, contacts, colours) => new Space(holder, data, contacts, colours);
