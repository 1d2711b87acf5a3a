// watch.h: `carom run --watch`: a page that follows a running simulation.
//
// Every few seconds a child, `carom view --live`, writes the page anew from what the result holds so far; the page
// loads itself again until the run is over.
#pragma once
#include "cli/cli.h"
#include <sys/types.h>

typedef struct cli_watch {
    char *page;    // its file; NULL: nobody watches
    const char *result;
    pid_t child;   // that writes it; 0: none
    double began, next; // when the child was started, and when to begin again
    bool shown;    // opened in a browser
} cli_watch;

/// The page is the name of the result, an .h5 file, with .html.
void cli_watch_begin(cli_watch *w, const char *result);
/// May that page be written?  Not over a file that carom did not write: says so.
bool cli_watch_allowed(const char *result);
/// To be called now and then while the run goes on.
void cli_watch_tend(cli_watch *w);
/// The last page, which stays as it is.
void cli_watch_end(cli_watch *w);
