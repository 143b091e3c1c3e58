/**
 * The port through which the service of any node reads what those of the others noted of their last hour.
 *
 * Owns: the port. Knows nothing of: what the bytes say. Rule: nothing depends on it but what people look at.
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
