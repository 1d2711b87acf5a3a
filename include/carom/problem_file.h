// problem_file.h: contact problems in files, to keep hard ones and to exchange them with others.
//
// Read: FCLIB's HDF5 files (local and global problems), carom's text form, and the binary form FC01.  Written: carom's
// text form, which holds any number of problems, and FCLIB.  Formats: docs/solve.md.
#pragma once
#include <carom/problem.h>
#include <carom/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_problem_list carom_problem_list;

carom_problem_list *carom_problems_create(void); // empty; NULL: no memory
/// All problems of a file, their G by blocks, p the start that the file gives or zero.  NULL: *err gives the reason.
carom_problem_list *carom_problems_read(const char *file, carom_error *err);
void carom_problems_destroy(carom_problem_list *list);

int carom_problems_count(const carom_problem_list *list);
carom_problem *carom_problems_at(carom_problem_list *list, int i);
const char *carom_problems_title(const carom_problem_list *list, int i); // "": it has none

/// A copy of pb, dense or by blocks, that starts from `start` (NULL: zero).
carom_status carom_problems_add(carom_problem_list *list, const carom_problem *pb, const double *start,
                                const char *title, carom_error *err);

/// FCLIB where the name ends in .h5 or .hdf5 (one problem with planar or spatial friction and equations); else text.
carom_status carom_problems_write(const carom_problem_list *list, const char *file, carom_error *err);
/// The answer pb->p, pb->u: FCLIB with problem and solution by the same endings; else CSV with the columns
/// block,row,u,p.
carom_status carom_problem_write_answer(const carom_problem *pb, const char *file, carom_error *err);

#ifdef __cplusplus
}
#endif
