/**
 * The port through which any node reads what all members report of themselves.
 *
 * Owns: the port and the bounds of its reports. Knows nothing of: what the bytes say. Rule: only what is shown to operators depends on it.
 */
export interface NodeReport {
  readonly nodeId: string
  /** Null: there is no report of this member, for the reason in `why`. */
  readonly bytes: Uint8Array | null
  /** `unsupported`: the member answers and is of a version that does not know the question. Null: there are bytes. */
  readonly why: 'unreachable' | 'unsupported' | null
}

export interface Reports {
  /** Once: what this node answers. An answer that takes too long or is too large is none. */
  open(own: () => Uint8Array | Promise<Uint8Array>): void
  /** Of all members, in their order, within seconds. Never rejects. */
  all(): Promise<readonly NodeReport[]>
}

export interface ReportKind {
  /** The name of the call between nodes. */
  readonly method: string
  readonly bytesMax: number
  readonly askMsMax: number
}

export const HISTORY_REPORT: ReportKind = {
  method: 'history.read',
  bytesMax: 128 * 1024,
  askMsMax: 2_000,
}

/** Longer: the files of a node are read, on a disk that may be slow. */
export const DOCTOR_REPORT: ReportKind = {
  method: 'doctor.read',
  bytesMax: 512 * 1024,
  askMsMax: 3_000,
}
