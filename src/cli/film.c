// film.c: frames from the page of `carom view`, films from frames.
//
// The page draws the frames that its address asks for (#film=) and leaves them in its document, one line of base64
// each; chromium prints that document.  Nothing goes through a shell.  A film under its name is whole or is not there.
//
// A busy machine draws slowly: each call of the browser is asked for as many pictures as take about half a minute, and
// one that gives none in time is ended and begun again.
#define _GNU_SOURCE // pipe2, nftw
#include "cli/child.h"
#include "cli/film.h"
#include "io/publish.h"
#include "io/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 20000, FIRST = 8, PART = 60, TRIES = 4 }; // frames of one call of the browser: at first, at most
static const double CALL = 30, PATIENCE = 240; // seconds that a call should take, and those after which it is given up

bool film_size(const cli_args *a, film *f) {
    const char *text = cli_value(a, "size");
    char rest = 0;
    f->width = 1280, f->height = 720;
    if (!text) return true;
    if (sscanf(text, "%5dx%5d%c", &f->width, &f->height, &rest) == 2 && f->width >= 64 && f->height >= 64 &&
        f->width <= 8192 && f->height <= 8192)
        return true;
    cli_say("--size: '%s' is not a size like 1280x720 (64 to 8192 each)", text);
    return false;
}

bool film_within(const page *p, film *f) {
    const double first = p->channel[0][0], last = p->channel[0][p->kept - 1];
    if (f->from >= first && f->to <= last && f->from <= f->to) return true;
    cli_say("%s has times from %.9g to %.9g, not %.9g to %.9g", p->file, first, last, f->from, f->to);
    return false;
}

// -- frames -----------------------------------------------------------------------------------------------------------

static int letter(int c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

// One line of base64 as bytes.  False: they could not be written.
static bool put_frame(FILE *to, const char *text) {
    uint32_t bits = 0;
    for (int n = 0, x; (x = letter((unsigned char)*text)) >= 0; ++text) {
        bits = bits << 6 | (uint32_t)x;
        if (++n % 4 == 0) {
            const unsigned char three[3] = {(unsigned char)(bits >> 16), (unsigned char)(bits >> 8),
                                            (unsigned char)bits};
            if (fwrite(three, 1, 3, to) != 3) return false;
            bits = 0, n = 0;
        } else if (letter((unsigned char)text[1]) < 0) { // the end is padded with =
            bits <<= 6 * (4 - n % 4);
            const unsigned char rest[2] = {(unsigned char)(bits >> 16), (unsigned char)(bits >> 8)};
            if (fwrite(rest, 1, (size_t)(n % 4 - 1), to) != (size_t)(n % 4 - 1)) return false;
        }
    }
    return true;
}

static bool start_browser(pid_t *pid, const char *page, const film *f, double from, double to, long n,
                          const char *folder, int out) {
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "chrome"};
    const char *given = getenv("CHROMIUM");
    char size[40], home[4300], *address = malloc(strlen(page) + 200);
    if (!address) abort();
    snprintf(size, sizeof size, "--window-size=%d,%d", f->width, f->height);
    snprintf(home, sizeof home, "--user-data-dir=%s", folder);
    sprintf(address, "file://%s#film=%.17g,%.17g,%ld,%.17g,%d,%d", page, from, to, n, f->fps, f->width, f->height);
    // Chromium keeps nobody's secrets here: the page is ours, and root has no other way.
    const char *alone = geteuid() == 0 ? "--no-sandbox" : "--no-first-run";
    int failed = ENOENT;
    for (size_t i = 0; failed == ENOENT && i < (given ? 1 : sizeof names / sizeof *names); ++i) {
        const char *argv[] = {given ? given : names[i],
                              "--headless",
                              "--dump-dom",
                              "--disable-gpu",
                              "--enable-unsafe-swiftshader",
                              "--hide-scrollbars",
                              "--force-device-scale-factor=1",
                              "--no-first-run",
                              alone,
                              size,
                              home,
                              address,
                              NULL};
        failed = cli_child_start(pid, argv, -1, out, -1);
    }
    free(address);
    if (failed == ENOENT)
        cli_say("images require chromium, which is not on the PATH; install the package chromium (Debian, Ubuntu), or "
                "name another such browser in CHROMIUM");
    else if (failed) cli_say("cannot start chromium: %s", strerror(failed));
    return failed == 0;
}

// What a child says, in lines.
typedef struct lines {
    int fd;
    char *text;
    size_t used, room;
} lines;

typedef enum heard { LINE, END, LATE, STOPPED } heard;

// The next line, which ends with a newline and stays until the next call.
static heard next_line(lines *l, size_t *taken, const char **line, double until) {
    memmove(l->text, l->text + *taken, l->used -= *taken);
    *taken = 0;
    for (size_t seen = 0;;) {
        char *end = memchr(l->text + seen, '\n', l->used - seen);
        if (end) {
            *end = 0, *line = l->text, *taken = (size_t)(end - l->text) + 1;
            return LINE;
        }
        seen = l->used;
        if (l->room - l->used < 1 << 16) {
            char *more = realloc(l->text, l->room *= 2);
            if (!more) abort();
            l->text = more;
        }
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        const int ready = poll(&p, 1, 200);
        if (cli_signals_asked(NULL)) return STOPPED;
        if (cli_clock() > until) return LATE;
        if (ready <= 0) continue;
        const ssize_t n = read(l->fd, l->text + l->used, l->room - l->used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return END;
        l->used += (size_t)n;
    }
}

// Frames from one call of the browser: how many of n came, -1: no use in going on (complained).
static long frames(const char *page, const film *f, double from, double to, long n, const char *folder, FILE *out) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return cli_say("cannot start chromium: %s", strerror(errno)), -1;
    pid_t pid = -1;
    const bool there = start_browser(&pid, page, f, from, to, n, folder, ends[1]);
    close(ends[1]);
    lines l = {.fd = ends[0], .text = malloc(1 << 20), .room = 1 << 20};
    if (!l.text) abort();
    size_t taken = 0;
    const char *line = NULL;
    long got = 0;
    const double until = cli_clock() + PATIENCE;
    heard h = there ? LINE : END;
    while (h == LINE && (h = next_line(&l, &taken, &line, until)) == LINE && got >= 0) {
        if (strncmp(line, "frame:", 6) != 0) continue;
        if (got < n && put_frame(out, line + 6) && fflush(out) == 0) ++got;
        else cli_say("ffmpeg accepted no more frames"), got = -1;
    }
    free(l.text);
    close(ends[0]);
    if (there && (h == LATE || h == STOPPED)) kill(pid, SIGKILL);
    if (there) cli_child_wait(pid);
    if (h == STOPPED) cli_say("stopped");
    return there && h != STOPPED ? got : -1;
}

// -- films ------------------------------------------------------------------------------------------------------------

static bool start_ffmpeg(pid_t *pid, const film *f, const char *part, bool gif, int in) {
    char rate[40], *to = malloc(strlen(part) + 6);
    if (!to) abort();
    snprintf(rate, sizeof rate, "%.6g", f->fps);
    sprintf(to, "file:%s", part); // whatever the name begins with: no option, no address
    const char *mp4[] = {
        "ffmpeg",     "-loglevel", "error",    "-y",      "-f",        "image2pipe",
        "-framerate", rate,        "-i",       "-",       "-vf",       "crop=trunc(iw/2)*2:trunc(ih/2)*2",
        "-c:v",       "libx264",   "-pix_fmt", "yuv420p", "-movflags", "+faststart",
        "-f",         "mp4",       to,         NULL};
    const char *moving[] = {"ffmpeg",
                            "-loglevel",
                            "error",
                            "-y",
                            "-f",
                            "image2pipe",
                            "-framerate",
                            rate,
                            "-i",
                            "-",
                            "-filter_complex",
                            "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none",
                            "-f",
                            "gif",
                            to,
                            NULL};
    const int failed = cli_child_start(pid, gif ? moving : mp4, in, -1, -1);
    free(to);
    if (failed == ENOENT)
        cli_say("videos require ffmpeg, which is not on the PATH; install the package ffmpeg (Debian, Ubuntu)");
    else if (failed) cli_say("cannot start ffmpeg: %s", strerror(failed));
    return failed == 0;
}

static bool make_frames(const film *f, const char *page, const char *folder, FILE *out) {
    const bool live = f->frames > PART && isatty(STDERR_FILENO);
    const double dt = f->frames > 1 ? (f->to - f->from) / (double)(f->frames - 1) : 0;
    long k = 0, part = FIRST, got = 0;
    int calls = 0, vain = 0; // vain: calls in a row that gave nothing
    while (k < f->frames && got >= 0 && vain < TRIES) {
        const long n = f->frames - k < part ? f->frames - k : part;
        const double from = f->from + dt * (double)k, began = cli_clock();
        char home[4200]; // one for each call: a browser that was ended may have left anything
        snprintf(home, sizeof home, "%s%d", folder, calls++);
        got = frames(page, f, from, from + dt * (double)(n - 1), n, home, out);
        const double fits = CALL / (cli_clock() - began) * (double)n; // pictures in half a minute
        if (got < n) part = n > 1 ? n / 2 : 1;
        else part = fits > PART ? PART : fits < 1 ? 1 : (long)fits;
        vain = got == 0 ? vain + 1 : 0;
        if (got > 0) k += got;
        if (got > 0 && live) fprintf(stderr, "\r%ld of %ld pictures", k, f->frames);
    }
    if (live) fputs("\r\033[K", stderr);
    if (vain == TRIES) cli_say("chromium rendered %ld of %ld frames, and no more in %d calls", k, f->frames, TRIES);
    return k == f->frames;
}

static bool make_film(const film *f, const char *page, const char *folder, const char *part, bool gif) {
    int ends[2];
    pid_t pid = -1;
    const int fd = part_open(part); // a new file, which ffmpeg fills
    if (fd < 0) return cli_say("cannot create %s: %s", part, strerror(errno)), false;
    close(fd);
    if (pipe2(ends, O_CLOEXEC) != 0) return cli_say("cannot start ffmpeg: %s", strerror(errno)), false;
    const bool there = start_ffmpeg(&pid, f, part, gif, ends[0]);
    close(ends[0]);
    FILE *to = fdopen(ends[1], "wb");
    if (!to) abort();
    signal(SIGPIPE, SIG_IGN); // an ffmpeg that gave up is seen by its status
    const bool good = there && make_frames(f, page, folder, to);
    const bool closed = fclose(to) == 0, ended = there && cli_child_wait(pid);
    if (good && (!closed || !ended)) cli_say("ffmpeg failed to encode the video");
    return good && closed && ended;
}

static bool make_picture(const film *f, const char *page, const char *folder, const char *part) {
    const int fd = part_open(part);
    FILE *to = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!to) return cli_say("cannot create %s: %s", part, strerror(errno)), false;
    const bool good = make_frames(f, page, folder, to);
    return fclose(to) == 0 && good;
}

static int remove_one(const char *name, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    remove(name);
    return 0;
}

int film_make(const page_view *v, const film *f, const char *out) {
    char folder[4096], page[4160], home[4160];
    if (v->page.drawing == NULL || v->page.kept < 1)
        return cli_say("%s: there is nothing to draw: %s", v->page.file,
                       v->model ? "its model has no section `draw`" : "it contains no model; give --model FILE"),
               CLI_USAGE;
    if (f->frames > MOST_FRAMES)
        return cli_say("%ld frames are too many; the maximum is %d", f->frames, MOST_FRAMES), CLI_USAGE;
    if (!scratch_folder(folder, sizeof folder, "carom-film"))
        return cli_say("cannot create a directory for the frames: %s; set TMPDIR to a writable directory",
                       strerror(errno)),
               CLI_FAILED;
    snprintf(page, sizeof page, "%s/page.html", folder);
    snprintf(home, sizeof home, "%s/browser", folder);
    char *part = part_name(out);
    if (!part) abort();
    carom_error err = {0};
    cli_signals_begin(); // a film that is stopped leaves nothing behind
    FILE *html = fopen(page, "wbx");
    bool good = html && page_write_view(v, html, &err);
    if (html) good = fclose(html) == 0 && good;
    if (!good) cli_say("%s", err.code != CAROM_OK ? err.text : "cannot write the page of the pictures");
    good = good && (carom_ends(out, ".png") ? make_picture(f, page, home, part)
                                            : make_film(f, page, home, part, carom_ends(out, ".gif")));
    if (good && rename(part, out) != 0) cli_say("cannot create %s: %s", out, strerror(errno)), good = false;
    if (!good) unlink(part);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    cli_signals_end();
    free(part);
    if (good) cli_print("%s\n", out);
    return good ? CLI_DONE : CLI_FAILED;
}
