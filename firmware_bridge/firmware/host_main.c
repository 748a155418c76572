/*
 * The panel core as a program, for tests and for trying a host without hardware: it opens a pseudo-terminal,
 * prints its name, and takes one command a line on standard input.
 *
 *     panel_host [--boot HEX] [--retain FILE] [--tick0 N] [--drift PPM] [--frozen] [--model TEXT]
 *                [--acts N]
 *
 *     press KEY SEAT FLAGS AMOUNT   answers "pressed BOOT SEQ" (SEQ 0: not taken)
 *     reset HEX                     starts again under that boot id, with what retained memory holds
 *     tick N                        with --frozen: the tick is N now
 *     state                         answers pending, lost and the counts
 *
 * FILE stands for RAM that survives a reset: kill the program, start it again with another boot id.
 */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "panel_core.h"

static struct {
    uint32_t boot;
    uint32_t tick0;
    long drift_ppm;
    bool frozen;
    const char *retain;
    uint16_t acts; /* presses that this boot has had already */
    panel_config config;
} args = {0xB007u, 0, 0, false, NULL, 0, {"reference panel", 1, 0}};

static void fail(const char *what)
{
    fprintf(stderr, "panel_host: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint32_t now_us(void)
{
    static int64_t start_ns;
    struct timespec t;
    if (args.frozen)
        return args.tick0;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (start_ns == 0)
        start_ns = ns;
    ns -= start_ns;
    return args.tick0 + (uint32_t)((uint64_t)(ns + ns / 1000000 * args.drift_ppm) / 1000u);
}

static panel_retained *retained(void)
{
    static panel_retained plain;
    if (args.retain == NULL)
        return &plain;
    int fd = open(args.retain, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(panel_retained)) != 0)
        fail(args.retain);
    void *kept = mmap(NULL, sizeof(panel_retained), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (kept == MAP_FAILED)
        fail(args.retain);
    close(fd);
    return kept;
}

static int terminal(void)
{
    struct termios raw;
    int fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0)
        fail("pseudo-terminal");
    /* Held open, so that a host may close it and come back; raw, so that nothing is echoed. */
    int side = open(ptsname(fd), O_RDWR | O_NOCTTY);
    if (side < 0 || tcgetattr(side, &raw) != 0)
        fail("pseudo-terminal");
    cfmakeraw(&raw);
    if (tcsetattr(side, TCSANOW, &raw) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        fail("pseudo-terminal");
    return fd;
}

static void command(panel *p, const char *line)
{
    unsigned key, seat, flags;
    uint64_t amount;
    uint32_t number;
    if (sscanf(line, "press %u %u %u %" SCNu64, &key, &seat, &flags, &amount) == 4) {
        unsigned seq = panel_press(p, (uint8_t)key, (uint8_t)seat, (uint8_t)flags, amount, now_us());
        printf("pressed %08" PRIx32 " %u\n", p->boot_id, seq);
    } else if (sscanf(line, "reset %" SCNx32, &number) == 1) {
        panel_init(p, &args.config, p->kept, number, now_us());
        printf("reset %08" PRIx32 " restored %" PRIu32 "\n", p->boot_id, p->counts.restored);
    } else if (sscanf(line, "tick %" SCNu32, &number) == 1) {
        args.tick0 = number;
        printf("tick %" PRIu32 "\n", number);
    } else if (strcmp(line, "state\n") == 0) {
        printf("state pending %u lost %" PRIu32 " restored %" PRIu32 " frames %" PRIu32 " garbage %" PRIu32
               " version %" PRIu32 " unknown %" PRIu32 " no_room %" PRIu32 " bad_key %" PRIu32 " worn %d\n",
               panel_pending(p), p->lost, p->counts.restored, p->counts.frames, p->counts.garbage,
               p->counts.version, p->counts.unknown, p->counts.no_room, p->counts.bad_key, panel_worn(p));
    } else {
        printf("unknown command\n");
    }
    fflush(stdout);
}

static void arguments(int argc, char **argv)
{
    for (int n = 1; n < argc; n++) {
        const char *value = n + 1 < argc ? argv[n + 1] : "";
        if (strcmp(argv[n], "--frozen") == 0) {
            args.frozen = true;
            continue;
        }
        if (strcmp(argv[n], "--boot") == 0)
            args.boot = (uint32_t)strtoul(value, NULL, 16);
        else if (strcmp(argv[n], "--tick0") == 0)
            args.tick0 = (uint32_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[n], "--drift") == 0)
            args.drift_ppm = strtol(value, NULL, 10);
        else if (strcmp(argv[n], "--retain") == 0)
            args.retain = value;
        else if (strcmp(argv[n], "--acts") == 0)
            args.acts = (uint16_t)strtoul(value, NULL, 10);
        else if (strcmp(argv[n], "--model") == 0)
            args.config.model = value;
        else {
            fprintf(stderr, "panel_host: unknown option %s; see the head of host_main.c\n", argv[n]);
            exit(2);
        }
        n++;
    }
}

static void serve(panel *p, int fd)
{
    static char line[256];
    size_t have = 0;
    for (;;) {
        struct pollfd watch[2] = {{.fd = fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
        uint8_t bytes[512];
        size_t count;
        if (poll(watch, 2, 5) < 0 && errno != EINTR)
            fail("poll");
        ssize_t got = (watch[0].revents & POLLIN) ? read(fd, bytes, sizeof bytes) : 0;
        if (got > 0)
            panel_receive(p, bytes, (size_t)got, now_us());
        if (watch[1].revents != 0) {
            got = read(STDIN_FILENO, line + have, sizeof line - 1 - have);
            if (got <= 0)
                return;
            have += (size_t)got;
            line[have] = '\0';
            for (char *end; (end = strchr(line, '\n')) != NULL;) {
                char one[sizeof line];
                size_t length = (size_t)(end - line) + 1;
                memcpy(one, line, length);
                one[length] = '\0';
                command(p, one);
                have -= length;
                memmove(line, end + 1, have + 1);
            }
        }
        panel_poll(p, now_us());
        const uint8_t *out = panel_outgoing(p, &count);
        ssize_t sent = count != 0 ? write(fd, out, count) : 0;
        if (sent > 0)
            panel_sent(p, (size_t)sent);
    }
}

int main(int argc, char **argv)
{
    static panel p;
    arguments(argc, argv);
    int fd = terminal();
    printf("%s\n", ptsname(fd));
    fflush(stdout);
    panel_init(&p, &args.config, retained(), args.boot, now_us());
    p.act_seq = args.acts;
    serve(&p, fd);
    return 0;
}
