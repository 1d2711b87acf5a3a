// siconos_slider.cpp: the slider-crank of models/slider-crank-frictionless.yaml in Siconos, the peer.
//
// Moreau-Jean with theta = 1/2 and its Newton iteration, Newton impacts with restitution 0.4, no friction, LCP by
// Lemke; system and contacts in native C++ functions with all Jacobians given; nothing is recorded.  Arguments:
// steps, step size.  Prints ns per step (thread CPU time of the loop) and the end state.
#include <SiconosKernel.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

const double l1 = 0.153, l2 = 0.306, a = 0.05, b = 0.025, c = 0.001, m1 = 0.038, m2 = 0.038, m3 = 0.076;
const double J1 = 7.4e-5, J2 = 5.9e-4, J3 = 2.7e-6, grav = 9.81;
const double B = l1 * l2 * (m2 / 2 + m3);
const double G1 = grav * l1 * (m1 / 2 + m2 + m3), G2 = grav * l2 * (m2 / 2 + m3);

// Matrices are column-major 3 x 3; Siconos has M v' + FGyr(q, v) + FInt(t, q, v) = contact forces.
void mass(unsigned, double *q, double *M, unsigned, double *) {
    for (int i = 0; i < 9; ++i) M[i] = 0;
    M[0] = J1 + l1 * l1 * (m1 / 4 + m2 + m3);
    M[4] = J2 + l2 * l2 * (m2 / 4 + m3);
    M[8] = J3;
    M[1] = M[3] = B * std::cos(q[0] - q[1]);
}

void gyro(unsigned, double *q, double *v, double *f, unsigned, double *) {
    const double s = B * std::sin(q[0] - q[1]);
    f[0] = s * v[1] * v[1];
    f[1] = -s * v[0] * v[0];
    f[2] = 0;
}

void gyro_q(unsigned, double *q, double *v, double *K, unsigned, double *) {
    const double k = B * std::cos(q[0] - q[1]);
    for (int i = 0; i < 9; ++i) K[i] = 0;
    K[0] = k * v[1] * v[1];
    K[3] = -K[0];
    K[1] = -k * v[0] * v[0];
    K[4] = -K[1];
}

void gyro_v(unsigned, double *q, double *v, double *C, unsigned, double *) {
    const double s = B * std::sin(q[0] - q[1]);
    for (int i = 0; i < 9; ++i) C[i] = 0;
    C[3] = 2 * s * v[1];
    C[1] = -2 * s * v[0];
}

void weight(double, unsigned, double *q, double *, double *f, unsigned, double *) {
    f[0] = G1 * std::cos(q[0]);
    f[1] = G2 * std::cos(q[1]);
    f[2] = 0;
}

void weight_q(double, unsigned, double *q, double *, double *K, unsigned, double *) {
    for (int i = 0; i < 9; ++i) K[i] = 0;
    K[0] = -G1 * std::sin(q[0]);
    K[4] = -G2 * std::sin(q[1]);
}

void weight_v(double, unsigned, double *, double *, double *C, unsigned, double *) {
    for (int i = 0; i < 9; ++i) C[i] = 0;
}

// A corner of the slider: side +1 is the upper wall, end -1 the left end.
class Corner : public LagrangianScleronomousR {
    double side, end;

public:
    Corner(double side_, double end_) : side(side_), end(end_) { setJachqPtr(std::make_shared<SimpleMatrix>(1, 3)); }

    void computeh(const BlockVector &q, BlockVector &, SiconosVector &y) override {
        const double y3 = l1 * std::sin(q(0)) + l2 * std::sin(q(1));
        y.setValue(0, b + c - side * y3 - side * end * a * std::sin(q(2)) - b * std::cos(q(2)));
    }

    void computeJachq(const BlockVector &q, BlockVector &) override {
        _jachq->setValue(0, 0, -side * l1 * std::cos(q(0)));
        _jachq->setValue(0, 1, -side * l2 * std::cos(q(1)));
        _jachq->setValue(0, 2, -side * end * a * std::cos(q(2)) + b * std::sin(q(2)));
    }
};

double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

} // namespace

int main(int argc, char **argv) {
    const long steps = argc > 1 ? std::atol(argv[1]) : 5000;
    const double h = argc > 2 ? std::atof(argv[2]) : 1e-5;

    auto q0 = std::make_shared<SiconosVector>(3), v0 = std::make_shared<SiconosVector>(3);
    v0->setValue(0, 150);
    v0->setValue(1, -75);
    auto slider = std::make_shared<LagrangianDS>(q0, v0);
    slider->setComputeMassFunction(mass);
    slider->setComputeFGyrFunction(gyro);
    slider->setComputeJacobianFGyrqFunction(gyro_q);
    slider->setComputeJacobianFGyrqDotFunction(gyro_v);
    slider->setComputeFIntFunction(weight);
    slider->setComputeJacobianFIntqFunction(weight_q);
    slider->setComputeJacobianFIntqDotFunction(weight_v);

    auto system = std::make_shared<NonSmoothDynamicalSystem>(0, h * (double)(steps + 1));
    system->insertDynamicalSystem(slider);
    auto law = std::make_shared<NewtonImpactNSL>(0.4);
    for (int k = 0; k < 4; ++k) {
        auto corner = std::make_shared<Corner>(k < 2 ? 1 : -1, k % 2 ? 1 : -1);
        system->link(std::make_shared<Interaction>(law, corner), slider);
    }
    auto grid = std::make_shared<TimeDiscretisation>(0, h);
    auto run = std::make_shared<TimeStepping>(system, grid, std::make_shared<MoreauJeanOSI>(0.5), std::make_shared<LCP>());
    run->setNewtonTolerance(1e-10);
    run->setNewtonMaxIteration(20);

    const double start = now();
    for (long i = 0; i < steps; ++i) {
        run->computeOneStep();
        run->nextStep();
    }
    const double ns = 1e9 * (now() - start) / (double)steps;
    const auto &q = *slider->q(), &v = *slider->velocity();
    std::printf("%.1f %.15g %.15g %.15g %.15g %.15g %.15g\n", ns, q(0), q(1), q(2), v(0), v(1), v(2));
    return 0;
}
