// MQTT over WebSockets (mqtt.js). Only the leaves a display may read; never `#`.

const LEAVES = ["health", "state", "recent", "ruling", "question", "question_closed", "alert", "ack"];
const MAX_BYTES = 65536;

/** Connects and keeps at it. `on` has up(), down(), refused(), message(leaf, event, retained). */
export function openLink(boot, on) {
  const client = globalThis.mqtt.connect(boot.ws_url, {
    protocolVersion: 4, // rumqttd speaks only 3.1.1 over WebSockets
    clientId: `display-${identifier()}`,
    clean: true,
    keepalive: 5,
    connectTimeout: 3000,
    reconnectPeriod: 500,
    queueQoSZero: false,
    resubscribe: false,
    timerVariant: "native", // the default starts a worker from a blob, which the page's policy forbids
  });
  client.on("connect", () => {
    const topics = LEAVES.map((leaf) => `${boot.prefix}/${leaf}`);
    client.subscribe(topics, { qos: 1 }, (error, granted) => {
      if (error || (granted ?? []).some((g) => g.qos > 2)) on.refused();
      else on.up();
    });
  });
  client.on("close", () => on.down());
  client.on("error", () => {}); // "close" follows
  client.on("message", (topic, payload, packet) => {
    if (payload.length > MAX_BYTES || !topic.startsWith(`${boot.prefix}/`)) return;
    let event;
    try {
      event = JSON.parse(new TextDecoder().decode(payload));
    } catch {
      return;
    }
    if (event && typeof event.id === "string" && event.data) {
      on.message(topic.slice(boot.prefix.length + 1), event, packet.retain);
    }
  });
  return {
    /** Send a command; false when there is no connection (nothing is queued: a late answer would be a wrong one). */
    command(act, body) {
      if (!client.connected) return false;
      client.publish(`${boot.prefix}/cmd/${act}`, JSON.stringify(body), { qos: 1 });
      return true;
    },
  };
}

export function identifier() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");
}
