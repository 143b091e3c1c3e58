/**
 * Sends the report of this node's service to every other member, at a fixed interval, and hands theirs on.
 *
 * Owns: the `gossip.report` call, its interval and its bounds. Knows nothing of: what a report says.
 * Rules: a member has at most one report under way; a report that does not arrive is lost; a node of an older version refuses the call,
 * which changes nothing.
 */
import type { Clock, Timer } from './base/clock.ts'
import { type Gossip, GOSSIP_BYTES_MAX, GOSSIP_EVERY_MS, type GossipChannel } from './base/gossip-channel.ts'
import { collectBody } from './transport/collect-body.ts'
import type { PeerCalls } from './transport/transport.ts'
import type { Logger, NodeId } from './base/types.ts'

export const GOSSIP_METHOD = 'gossip.report'
const CALL_MS_MAX = 1_000

export interface GossipRoundsParts {
  readonly nodeId: NodeId
  readonly members: () => readonly NodeId[]
  readonly transport: PeerCalls
  readonly clock: Clock
  readonly logger: Logger
}

export class GossipRounds implements Gossip {
  readonly #parts: GossipRoundsParts
  readonly #underWay = new Set<NodeId>()
  #channel: GossipChannel | null = null
  #timer: Timer | null = null
  #isStopped = false

  /** Before the transport's start. */
  constructor(parts: GossipRoundsParts) {
    this.#parts = parts
    parts.transport.handle(GOSSIP_METHOD, async ({ from, body }) => {
      const report = await collectBody(body, GOSSIP_BYTES_MAX)
      this.#channel?.hear(from, report)
      return { header: null }
    })
  }

  open(channel: GossipChannel): void {
    this.#channel = channel
    this.#await()
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.cancel()
  }

  #await(): void {
    if (!this.#isStopped) this.#timer = this.#parts.clock.after(GOSSIP_EVERY_MS, () => this.#round(), true)
  }

  #round(): void {
    const { nodeId, members } = this.#parts
    const report = this.#channel?.report() ?? null
    if (report !== null) for (const member of members()) if (member !== nodeId) this.#send(member, report)
    this.#await()
  }

  #send(member: NodeId, report: Uint8Array): void {
    if (this.#underWay.has(member)) return
    this.#underWay.add(member)
    const { transport, logger } = this.#parts
    transport
      .call(member, GOSSIP_METHOD, { header: null, body: report, timeoutMs: CALL_MS_MAX })
      .then(({ body }) => collectBody(body, 0))
      .catch((err: unknown) => logger.debug({ peer: member, err }, 'report to a member lost'))
      .finally(() => this.#underWay.delete(member))
  }
}
