/*
 * The dealer's panel, version 1 of ../PROTOCOL.md, as a core without hardware: C99, no heap, no operating
 * system, no floating point, about 1.5 KiB of RAM.  The caller scans the keys, moves the bytes and owns two
 * things that the core cannot make: a free-running microsecond tick, and a random boot id.
 *
 *     static panel_retained kept;         in RAM that a reset leaves alone (.noinit, backup SRAM)
 *     static panel panel;
 *     panel_init(&panel, &config, &kept, random32(), now_us());
 *     for (;;) {
 *         panel_receive(&panel, bytes, count, now_us());      what came from the host
 *         if (key went down) panel_press(&panel, key, seat, flags, amount, now_us());
 *         panel_poll(&panel, now_us());                       at least every 10 ms
 *         sent = uart_write(panel_outgoing(&panel, &count), count);
 *         panel_sent(&panel, sent);
 *     }
 *
 * Not for use from an interrupt: put keys and bytes into queues of your own there.
 */
#ifndef PANEL_CORE_H
#define PANEL_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PANEL_VERSION 1u
#define PANEL_SCHEMA_HASH 0x7AB1ED01u
#define PANEL_MAX_ENCODED 254u /* of an encoded body, without its delimiter */
#define PANEL_MAX_MODEL 24u
#define PANEL_QUEUE 16u /* presses held; PROTOCOL.md asks for at least so many */
#define PANEL_RESEND_US 200000u
#define PANEL_HEARTBEAT_US 1000000u
#define PANEL_OUT 512u /* bytes waiting for the line */

enum panel_type {
    PANEL_HELLO = 0x01,
    PANEL_HEARTBEAT = 0x02,
    PANEL_PRESS = 0x03,
    PANEL_PONG = 0x04,
    PANEL_HELLO_REQUEST = 0x81,
    PANEL_ACK = 0x82,
    PANEL_PING = 0x83
};

enum panel_key {
    PANEL_KEY_FOLD = 1,
    PANEL_KEY_CHECK,
    PANEL_KEY_CALL,
    PANEL_KEY_BET,
    PANEL_KEY_RAISE,
    PANEL_KEY_RAISE_TO,
    PANEL_KEY_RAISE_BY,
    PANEL_KEY_ALL_IN,
    PANEL_KEY_NUMBER,
    PANEL_KEY_POT,
    PANEL_KEY_COMPLETE,
    PANEL_KEY_HAND_WITHDRAWS,
    PANEL_KEY_NEXT_STREET,
    PANEL_KEY_NEW_HAND,
    PANEL_KEY_UNDO,
    PANEL_KEY_FLOOR,
    PANEL_KEY_A,
    PANEL_KEY_B,
    PANEL_KEY_LAST = PANEL_KEY_B
};

#define PANEL_SAID_FIRST 0x01u
#define PANEL_LAST_SEAT 10u /* seats are 1 to 10; 0: no seat key was used */

/* What the maker chooses. `model` is printable ASCII; what is longer than PANEL_MAX_MODEL is not sent. */
typedef struct {
    const char *model;
    uint8_t fw_major;
    uint8_t fw_minor;
} panel_config;

/*
 * One press in retained memory. A slot counts when `check` is the checksum of the rest, so one that a reset
 * cut in half, or memory that lost its charge, is empty and never a press that nobody made.
 */
typedef struct {
    uint64_t amount;
    uint32_t order; /* ascending; the oldest is sent first */
    uint32_t act_boot;
    uint32_t pressed_us;
    uint16_t act_seq;
    uint8_t key;
    uint8_t seat;
    uint8_t flags;
    uint8_t used; /* 0xA5 when in use; cleared first when the press is acknowledged */
    uint16_t check;
} panel_slot;

typedef struct {
    volatile panel_slot slot[PANEL_QUEUE];
} panel_retained;

/* Counts since the start; a bench reads them with a debugger. */
typedef struct {
    uint32_t frames;   /* good frames of the host */
    uint32_t garbage;  /* bodies that were no frame: stuffing, length, checksum */
    uint32_t version;  /* frames of another version */
    uint32_t unknown;  /* good frames of a type or length that this text does not have */
    uint32_t no_room;  /* frames not sent because the line was behind */
    uint32_t bad_key;  /* calls of panel_press with values that the text does not allow */
    uint32_t restored; /* presses found in retained memory at the start */
} panel_counts;

typedef struct {
    panel_config config;
    panel_retained *kept;
    panel_counts counts;
    uint32_t boot_id;
    uint32_t next_order;
    uint32_t beat_us;
    uint32_t sent_us[PANEL_QUEUE];
    bool sent[PANEL_QUEUE];
    uint16_t frame_seq;
    uint16_t act_seq;
    uint32_t lost;
    uint8_t in[PANEL_MAX_ENCODED];
    size_t in_size;
    bool overlong;
    uint8_t out[PANEL_OUT];
    size_t out_size;
} panel;

/*
 * Starts the panel, at power-up, after a reset, and when panel_worn() says so. `boot_id` must be random and
 * different from the last one (0 is made 1); `kept` may hold anything. Says HELLO.
 */
void panel_init(panel *p, const panel_config *config, panel_retained *kept, uint32_t boot_id, uint32_t now_us);

/*
 * A key went down at `now_us`. Returns the act's number, or 0 when it was not taken: the queue is full (then the
 * host learns it from the next heartbeat) or a value is not one of the text's.
 */
uint16_t panel_press(panel *p, uint8_t key, uint8_t seat, uint8_t flags, uint64_t amount, uint32_t now_us);

/* Bytes from the host, as they came. */
void panel_receive(panel *p, const uint8_t *data, size_t size, uint32_t now_us);

/* Heartbeats and presses that are due. Call it at least every 10 ms. */
void panel_poll(panel *p, uint32_t now_us);

/* Bytes for the host, and how many; panel_sent() says how many of them the line took. */
const uint8_t *panel_outgoing(const panel *p, size_t *size);
void panel_sent(panel *p, size_t size);

/* Presses that the host has not acknowledged. */
unsigned panel_pending(const panel *p);

/* True when act numbers run out (65,000 presses in one boot): call panel_init() with a new boot id. */
bool panel_worn(const panel *p);

#endif
