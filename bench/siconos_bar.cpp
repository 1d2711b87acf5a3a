// siconos_bar.cpp: the elastic bar of bar.c in Siconos, the peer.
//
// Moreau-Jean with theta = 1/2, consistent mass, sparse M and K, one Newton impact of restitution 0, LCP by Lemke; nothing
// is recorded.  Arguments: elements, steps.  Prints ns per unknown and step (thread CPU time of the loop) and the position
// of the first and the last node at the end.
#include <SiconosKernel.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>

static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    const int elements = argc > 1 ? std::atoi(argv[1]) : 1000, n = elements + 1;
    const long steps = argc > 2 ? std::atol(argv[2]) : 200;
    const double k = 900.0 / 10 * elements, m = 10.0 / elements, h = 0.5 * (10.0 / elements) / 30;

    auto M = std::make_shared<SimpleMatrix>(n, n, Siconos::SPARSE, 3 * n), K = std::make_shared<SimpleMatrix>(n, n, Siconos::SPARSE, 3 * n);
    for (int i = 0; i < n; ++i) {
        const double ends = i == 0 || i == n - 1 ? 1 : 2;
        if (i > 0) M->setValue(i, i - 1, m / 6), K->setValue(i, i - 1, -k);
        M->setValue(i, i, ends * m / 3), K->setValue(i, i, ends * k);
        if (i < n - 1) M->setValue(i, i + 1, m / 6), K->setValue(i, i + 1, -k);
    }
    auto q0 = std::make_shared<SiconosVector>(n), v0 = std::make_shared<SiconosVector>(n);
    for (int i = 0; i < n; ++i) q0->setValue(i, 0), v0->setValue(i, -10);
    auto bar = std::make_shared<LagrangianLinearTIDS>(q0, v0, M);
    bar->setKPtr(K);

    auto system = std::make_shared<NonSmoothDynamicalSystem>(0, h * (double)(steps + 10));
    system->insertDynamicalSystem(bar);
    auto H = std::make_shared<SimpleMatrix>(1, n);
    H->setValue(0, 0, 1);
    auto b = std::make_shared<SiconosVector>(1);
    b->setValue(0, 0);
    system->link(std::make_shared<Interaction>(std::make_shared<NewtonImpactNSL>(0), std::make_shared<LagrangianLinearTIR>(H, b)), bar);
    auto run = std::make_shared<TimeStepping>(system, std::make_shared<TimeDiscretisation>(0, h), std::make_shared<MoreauJeanOSI>(0.5),
                                              std::make_shared<LCP>());
    for (int i = 0; i < 3; ++i) run->computeOneStep(), run->nextStep();
    const double start = now();
    for (long i = 0; i < steps; ++i) run->computeOneStep(), run->nextStep();
    const double ns = 1e9 * (now() - start) / (double)steps / n;
    std::printf("%.3f %.15g %.15g\n", ns, (*bar->q())(0), (*bar->q())(n - 1));
    return 0;
}
