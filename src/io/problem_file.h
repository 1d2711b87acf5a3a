// problem_file.h: lists of contact problems; users: <carom/problem_file.h>.
#pragma once
#include <carom/problem_file.h>

void carom_problems_remove(carom_problem_list *list, int i);
