/**
 * The port through which any node reads the recent history of all members.
 *
 * Owns: the port. Knows nothing of: what the bytes say. Rule: only charts depend on it.
 */
export interface NodeHistory {
  readonly nodeId: string
  /** Null: the member does not answer in time, or does not know the question. */
  readonly bytes: Uint8Array | null
}

export interface Histories {
  /** Once: what this node answers. At most HISTORY_BYTES_MAX. Must not throw. */
  open(own: () => Uint8Array): void
  /** Of all members, in their order, within seconds. Never rejects. */
  all(): Promise<readonly NodeHistory[]>
}

export const HISTORY_BYTES_MAX = 128 * 1024
