// two_balls.cpp: carom from C++: a model as text, owners that destroy what they hold, a parameter changed from run to run.
//
// Two balls fall on a floor, one above the other; the upper one gains what the lower one gives it.  With restitution 1 and one mass
// far above the other, the light ball leaves with three times the speed of the impact.
//
//     c++ -std=c++17 two_balls.cpp $(pkg-config --cflags --libs carom) && ./a.out
#include <carom/carom.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct destroy {
    void operator()(carom_model *m) const { carom_model_destroy(m); }
    void operator()(carom_sim *s) const { carom_sim_destroy(s); }
};
using model = std::unique_ptr<carom_model, destroy>;
using simulation = std::unique_ptr<carom_sim, destroy>;

const std::string TEXT = R"(
carom: 1
parameters: {m: 0.001, g: 9.81}
coordinates:
  low: {at: 1}
  high: {at: 1.01}
energy:
  kinetic: 1/2*low'^2 + 1/2*m*high'^2
  potential: g*(low + m*high)
contacts:
  floor: {gap: low, restitution: 1}
  balls: {gap: high - low, restitution: 1}
)";

model read(const std::string &text, const std::string &set) {
    const char *const sets[] = {set.c_str(), nullptr};
    carom_model_def def{};
    def.text = text.c_str();
    def.length = text.size();
    def.file = "two_balls";
    def.set = sets;
    carom_error err{};
    model m(carom_model_create(&def, &err));
    if (!m) throw std::runtime_error(err.text);
    return m;
}

// The largest speed of the upper ball after the impacts, over the speed of the fall.
double gain(const model &m) {
    carom_sim_def def = carom_sim_default();
    def.system = carom_model_system(m.get());
    def.schemes = carom_schemes();
    def.scheme = "event-driven";
    def.h = 1e-2;
    def.t_end = 0.5;
    def.q0 = carom_model_q0(m.get());
    def.v0 = carom_model_v0(m.get());
    carom_error err{};
    const simulation sim(carom_sim_create(&def, &err));
    if (!sim) throw std::runtime_error(err.text);
    double most = 0;
    while (!carom_sim_done(sim.get())) {
        if (carom_sim_step(sim.get(), &err) != CAROM_OK) throw std::runtime_error(err.text);
        const carom_now now = carom_sim_now(sim.get());
        most = std::fmax(most, now.v[1] + 9.81 * (now.t - std::sqrt(2 / 9.81))); // as it was at the impact
    }
    return most / std::sqrt(2 * 9.81);
}

} // namespace

int main() {
    try {
        bool good = true;
        for (const double mass : {0.1, 0.01, 0.001}) {
            const double g = gain(read(TEXT, "m=" + std::to_string(mass))), expected = (3 - mass) / (1 + mass); // elastic, one after the other
            std::printf("m = %-6g speed of the fall times %.4f, theory %.4f\n", mass, g, expected);
            good = good && std::fabs(g - expected) < 0.05;
        }
        try {
            read("carom: 1\nparameters: {m: 1}\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: 1/2*y'^2}\n", "m=1");
            good = false;
        } catch (const std::runtime_error &e) {
            std::printf("a mistake: %s\n", e.what());
        }
        return good ? 0 : 1;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}
