// quick.h: what tests leave out with sanitizers (QUICK), which see nothing new in long motions and many repetitions.
#pragma once

#ifdef QUICK
#define QUICK_SKIPS() skip()
enum { BRIEF = 1 };
#else
#define QUICK_SKIPS() (void)0
enum { BRIEF = 0 };
#endif
