// team.h: work on the threads of a team; users: <carom/team.h>.
#pragma once
#include <carom/team.h>

static inline void carom_team_run(carom_team *team, void (*work)(void *user, int part, int parts), void *user) {
    if (team && team->n > 1) team->run(team, work, user);
    else work(user, 0, 1);
}
