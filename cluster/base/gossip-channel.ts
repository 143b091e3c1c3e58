/**
 * The channel through which the service of one node tells those of the others small things that may be lost.
 *
 * Owns: the port. Knows nothing of: what is reported. Rule: no decision of safety depends on it.
 */
export interface GossipChannel {
  /** What to send to every other member now; null: nothing. At most GOSSIP_BYTES_MAX. */
  readonly report: () => Uint8Array | null
  /** Bytes from a member, of any version. Must not throw. */
  readonly hear: (from: string, report: Uint8Array) => void
}

export interface Gossip {
  /** Once. Ends with the cluster. */
  open(channel: GossipChannel): void
}

export const GOSSIP_BYTES_MAX = 64 * 1024
/** Between two reports of a node. */
export const GOSSIP_EVERY_MS = 300
