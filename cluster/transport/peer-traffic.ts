/**
 * Counts the traffic between this node and each peer.
 *
 * Owns: the counters and their names as metrics. Knows nothing of: why something was sent.
 */
import type { Clock } from '../base/clock.ts'
import type { NodeId } from '../raft/types.ts'
import { LatencyHistogram } from '../base/latency-histogram.ts'
import { histogram } from '../base/metric-samples.ts'
import type { MetricSample } from '../base/types.ts'

interface Counters {
  sentBytes: number
  sentMessages: number
  receivedBytes: number
  receivedMessages: number
  /** Raft messages that were dropped: the lane was full, or the peer unreachable. */
  droppedMessages: number
  /** Requests without a successful answer. */
  failures: number
}

interface PeerRecord {
  readonly calls: LatencyHistogram
  readonly counters: Counters
  /** clock.now() of the last proof that the peer is alive. */
  lastContact: number | null
}

const COUNTERS = {
  sentBytes: ['holdfast_peer_sent_bytes_total', 'Bytes sent to the peer, bodies only'],
  sentMessages: ['holdfast_peer_sent_messages_total', 'Raft messages sent to the peer'],
  receivedBytes: ['holdfast_peer_received_bytes_total', 'Bytes received from the peer, bodies only'],
  receivedMessages: ['holdfast_peer_received_messages_total', 'Raft messages received from the peer'],
  droppedMessages: ['holdfast_peer_dropped_messages_total', 'Raft messages to the peer that were dropped'],
  failures: ['holdfast_peer_failures_total', 'Requests to the peer without a successful answer'],
} as const satisfies Record<keyof Counters, readonly [string, string]>

export class PeerTraffic {
  readonly #clock: Clock
  readonly #peers = new Map<NodeId, PeerRecord>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(peer: NodeId, counter: keyof Counters, amount = 1): void {
    this.#of(peer).counters[counter] += amount
  }

  contact(peer: NodeId): void {
    this.#of(peer).lastContact = this.#clock.now()
  }

  /** The answer of the peer has started. */
  answered(peer: NodeId, seconds: number): void {
    this.#of(peer).calls.observe(seconds)
  }

  /** clock.now() of the last contact, or null. */
  lastContact(peer: NodeId): number | null {
    return this.#peers.get(peer)?.lastContact ?? null
  }

  samples(): MetricSample[] {
    return [...this.#peers].flatMap(([peer, record]) => [
      ...this.#counters(peer, record),
      ...this.#contact(peer, record),
      histogram(
        'holdfast_peer_call_duration_seconds',
        'From a call to the peer until its answer begins, its work included',
        record.calls.figures(),
        { peer },
      ),
    ])
  }

  #counters(peer: NodeId, { counters }: PeerRecord): MetricSample[] {
    return (Object.keys(COUNTERS) as (keyof Counters)[]).map((counter) => {
      const [name, help] = COUNTERS[counter]
      return { name, help, kind: 'counter', value: counters[counter], labels: { peer } }
    })
  }

  #contact(peer: NodeId, { lastContact }: PeerRecord): MetricSample[] {
    if (lastContact === null) return []
    const value = (this.#clock.now() - lastContact) / 1000
    return [
      {
        name: 'holdfast_raft_peer_last_contact_seconds',
        help: 'Time since the last contact with the peer',
        kind: 'gauge',
        value,
        labels: { peer },
      },
    ]
  }

  /** Bounded by the number of members: identities are checked before anything is counted. */
  #of(peer: NodeId): PeerRecord {
    let record = this.#peers.get(peer)
    if (record === undefined) {
      const counters = {
        sentBytes: 0,
        sentMessages: 0,
        receivedBytes: 0,
        receivedMessages: 0,
        droppedMessages: 0,
        failures: 0,
      }
      record = { counters, lastContact: null, calls: new LatencyHistogram() }
      this.#peers.set(peer, record)
    }
    return record
  }
}
