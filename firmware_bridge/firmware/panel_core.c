/* See panel_core.h; names and offsets are those of ../PROTOCOL.md. */
#include "panel_core.h"

#define HEADER 12u
#define MAX_PAYLOAD 30u /* HELLO with the longest model name */
#define MAX_BODY (HEADER + MAX_PAYLOAD + 2u)
#define IN_USE 0xA5u
#define WORN 65000u

/* -- bytes ------------------------------------------------------------------------------------ */

static void put(uint8_t *at, uint64_t value, unsigned size)
{
    for (unsigned n = 0; n < size; n++)
        at[n] = (uint8_t)(value >> (8u * n));
}

static uint32_t get(const uint8_t *at, unsigned size)
{
    uint32_t value = 0;
    for (unsigned n = 0; n < size; n++)
        value |= (uint32_t)at[n] << (8u * n);
    return value;
}

/* CRC-16/MCRF4XX: reflected 0x1021, preset 0xFFFF, no final XOR. */
static uint16_t crc16(const uint8_t *data, size_t size)
{
    uint32_t crc = 0xFFFFu;
    for (size_t n = 0; n < size; n++) {
        crc ^= data[n];
        for (unsigned bit = 0; bit < 8u; bit++)
            crc = (crc & 1u) ? (crc >> 1) ^ 0x8408u : crc >> 1;
    }
    return (uint16_t)crc;
}

/* A body shorter than 254 bytes needs one byte more when it is stuffed. */
static size_t stuff(const uint8_t *body, size_t size, uint8_t *out)
{
    size_t code_at = 0, at = 1;
    for (size_t n = 0; n < size; n++) {
        if (body[n] == 0) {
            out[code_at] = (uint8_t)(at - code_at);
            code_at = at++;
        } else {
            out[at++] = body[n];
        }
    }
    out[code_at] = (uint8_t)(at - code_at);
    return at;
}

/* In place; returns the body's size, 0 if these bytes are no stuffed body. They hold no zero. */
static size_t unstuff(uint8_t *data, size_t size)
{
    size_t from = 0, to = 0;
    while (from < size) {
        size_t code = data[from];
        if (from + code > size)
            return 0;
        for (size_t n = 1; n < code; n++)
            data[to++] = data[from + n];
        from += code;
        if (code < 0xFFu && from < size)
            data[to++] = 0;
    }
    return to;
}

/* -- the queue in retained memory ------------------------------------------------------------- */

static uint16_t slot_check(const volatile panel_slot *slot)
{
    uint8_t flat[26];
    put(flat, slot->amount, 8);
    put(flat + 8, slot->order, 4);
    put(flat + 12, slot->act_boot, 4);
    put(flat + 16, slot->pressed_us, 4);
    put(flat + 20, slot->act_seq, 2);
    flat[22] = slot->key;
    flat[23] = slot->seat;
    flat[24] = slot->flags;
    flat[25] = slot->used;
    return crc16(flat, sizeof flat);
}

static bool holds(const panel *p, unsigned n)
{
    return p->kept->slot[n].used == IN_USE;
}

static bool before(const panel *p, unsigned a, unsigned b)
{
    return (int32_t)(p->kept->slot[a].order - p->kept->slot[b].order) < 0;
}

static bool allowed(uint8_t key, uint8_t seat, uint8_t flags)
{
    return key >= 1u && key <= PANEL_KEY_LAST && seat <= PANEL_LAST_SEAT && (flags & ~PANEL_SAID_FIRST) == 0;
}

static void restore(panel *p)
{
    bool any = false;
    for (unsigned n = 0; n < PANEL_QUEUE; n++) {
        volatile panel_slot *slot = &p->kept->slot[n];
        bool good = slot->used == IN_USE && slot->check == slot_check(slot) && slot->act_seq != 0 &&
                    slot->act_boot != 0 && allowed(slot->key, slot->seat, slot->flags);
        if (!good) {
            slot->used = 0;
            continue;
        }
        p->counts.restored++;
        if (!any || (int32_t)(slot->order - p->next_order) >= 0)
            p->next_order = slot->order + 1u;
        any = true;
    }
}

unsigned panel_pending(const panel *p)
{
    unsigned count = 0;
    for (unsigned n = 0; n < PANEL_QUEUE; n++)
        count += holds(p, n);
    return count;
}

/* -- sending ---------------------------------------------------------------------------------- */

/* One frame into the queue of the line, whole or not at all. */
static bool send_frame(panel *p, uint8_t type, const uint8_t *payload, size_t size, uint32_t now_us)
{
    uint8_t body[MAX_BODY];
    size_t length = HEADER + size;
    if (size > MAX_PAYLOAD || p->out_size + length + 4u > PANEL_OUT) {
        p->counts.no_room++;
        return false;
    }
    body[0] = PANEL_VERSION;
    body[1] = type;
    put(body + 2, p->frame_seq++, 2);
    put(body + 4, now_us, 4);
    put(body + 8, p->boot_id, 4);
    for (size_t n = 0; n < size; n++)
        body[HEADER + n] = payload[n];
    put(body + length, crc16(body, length), 2);
    p->out_size += stuff(body, length + 2u, p->out + p->out_size);
    p->out[p->out_size++] = 0;
    return true;
}

static void say_hello(panel *p, uint32_t now_us)
{
    uint8_t payload[MAX_PAYLOAD];
    size_t length = 0;
    put(payload, PANEL_SCHEMA_HASH, 4);
    payload[4] = p->config.fw_major;
    payload[5] = p->config.fw_minor;
    while (length < PANEL_MAX_MODEL && p->config.model[length] != '\0') {
        payload[6 + length] = (uint8_t)p->config.model[length];
        length++;
    }
    (void)send_frame(p, PANEL_HELLO, payload, 6u + length, now_us);
}

static void say_press(panel *p, unsigned n, uint32_t now_us)
{
    const volatile panel_slot *slot = &p->kept->slot[n];
    uint8_t payload[21];
    put(payload, slot->act_boot, 4);
    put(payload + 4, slot->act_seq, 2);
    put(payload + 6, slot->pressed_us, 4);
    payload[10] = slot->key;
    payload[11] = slot->seat;
    payload[12] = slot->flags;
    put(payload + 13, slot->amount, 8);
    if (send_frame(p, PANEL_PRESS, payload, sizeof payload, now_us)) {
        p->sent[n] = true;
        p->sent_us[n] = now_us;
    }
}

static bool due(const panel *p, unsigned n, uint32_t now_us)
{
    return holds(p, n) && (!p->sent[n] || (uint32_t)(now_us - p->sent_us[n]) >= PANEL_RESEND_US);
}

/* Oldest first, as many as the line takes; the rest is still due at the next call. */
static void send_due(panel *p, uint32_t now_us)
{
    for (unsigned round = 0; round < PANEL_QUEUE; round++) {
        unsigned oldest = PANEL_QUEUE;
        for (unsigned n = 0; n < PANEL_QUEUE; n++)
            if (due(p, n, now_us) && (oldest == PANEL_QUEUE || before(p, n, oldest)))
                oldest = n;
        /* Half of the line's queue is kept for the answers to pings: the clock wants them at once. */
        if (oldest == PANEL_QUEUE || p->out_size > PANEL_OUT / 2u)
            return;
        say_press(p, oldest, now_us);
    }
}

void panel_poll(panel *p, uint32_t now_us)
{
    if ((uint32_t)(now_us - p->beat_us) >= PANEL_HEARTBEAT_US) {
        uint8_t payload[2];
        payload[0] = (uint8_t)panel_pending(p);
        payload[1] = (uint8_t)(p->lost > 255u ? 255u : p->lost);
        (void)send_frame(p, PANEL_HEARTBEAT, payload, sizeof payload, now_us);
        p->beat_us += PANEL_HEARTBEAT_US;
        if ((uint32_t)(now_us - p->beat_us) >= PANEL_HEARTBEAT_US)
            p->beat_us = now_us; /* held up for long: no burst of old beats */
    }
    send_due(p, now_us);
}

const uint8_t *panel_outgoing(const panel *p, size_t *size)
{
    *size = p->out_size;
    return p->out;
}

void panel_sent(panel *p, size_t size)
{
    if (size > p->out_size)
        size = p->out_size;
    for (size_t n = size; n < p->out_size; n++)
        p->out[n - size] = p->out[n];
    p->out_size -= size;
}

/* -- keys ------------------------------------------------------------------------------------- */

uint16_t panel_press(panel *p, uint8_t key, uint8_t seat, uint8_t flags, uint64_t amount, uint32_t now_us)
{
    unsigned free = PANEL_QUEUE;
    if (!allowed(key, seat, flags)) {
        p->counts.bad_key++;
        return 0;
    }
    for (unsigned n = PANEL_QUEUE; n-- > 0;)
        if (!holds(p, n))
            free = n;
    if (free == PANEL_QUEUE || p->act_seq == UINT16_MAX) {
        p->lost++;
        return 0;
    }
    volatile panel_slot *slot = &p->kept->slot[free];
    slot->amount = amount;
    slot->order = p->next_order++;
    slot->act_boot = p->boot_id;
    slot->pressed_us = now_us;
    slot->act_seq = ++p->act_seq;
    slot->key = key;
    slot->seat = seat;
    slot->flags = flags;
    p->sent[free] = false;
    slot->used = IN_USE;
    slot->check = slot_check(slot); /* last: until now a reset finds no press here */
    send_due(p, now_us);
    return p->act_seq;
}

bool panel_worn(const panel *p)
{
    return p->act_seq >= WORN;
}

/* -- receiving -------------------------------------------------------------------------------- */

static void acknowledge(panel *p, uint32_t act_boot, uint16_t act_seq)
{
    for (unsigned n = 0; n < PANEL_QUEUE; n++) {
        volatile panel_slot *slot = &p->kept->slot[n];
        if (slot->used == IN_USE && slot->act_boot == act_boot && slot->act_seq == act_seq)
            slot->used = 0;
    }
}

static void on_body(panel *p, const uint8_t *body, size_t size, uint32_t now_us)
{
    const uint8_t *payload = body + HEADER;
    if (size < HEADER + 2u || get(body + size - 2u, 2) != crc16(body, size - 2u)) {
        p->counts.garbage++;
        return;
    }
    if (body[0] != PANEL_VERSION) {
        p->counts.version++;
        return;
    }
    size -= HEADER + 2u;
    p->counts.frames++;
    /* The header's boot is not looked at: an ACK names its act, and a hello or ping wants the present panel. */
    if (body[1] == PANEL_HELLO_REQUEST && size == 0)
        say_hello(p, now_us);
    else if (body[1] == PANEL_ACK && size == 6u)
        acknowledge(p, get(payload, 4), (uint16_t)get(payload + 4, 2));
    else if (body[1] == PANEL_PING && size == 4u)
        (void)send_frame(p, PANEL_PONG, payload, 4, now_us);
    else
        p->counts.unknown++;
}

static void on_byte(panel *p, uint8_t byte, uint32_t now_us)
{
    if (byte != 0) {
        if (p->in_size == PANEL_MAX_ENCODED)
            p->overlong = true;
        else
            p->in[p->in_size++] = byte;
        return;
    }
    if (p->overlong)
        p->counts.garbage++;
    else if (p->in_size != 0)
        on_body(p, p->in, unstuff(p->in, p->in_size), now_us);
    p->in_size = 0;
    p->overlong = false;
}

void panel_receive(panel *p, const uint8_t *data, size_t size, uint32_t now_us)
{
    for (size_t n = 0; n < size; n++)
        on_byte(p, data[n], now_us);
}

/* -- start ------------------------------------------------------------------------------------ */

void panel_init(panel *p, const panel_config *config, panel_retained *kept, uint32_t boot_id, uint32_t now_us)
{
    *p = (panel){.config = *config, .kept = kept, .boot_id = boot_id != 0 ? boot_id : 1u, .beat_us = now_us};
    restore(p);
    /* Ends whatever the last boot had half sent. */
    p->out[p->out_size++] = 0;
    say_hello(p, now_us);
}
