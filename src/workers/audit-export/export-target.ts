/**
 * The receiver of the audit log outside of the cluster, as a port.
 *
 * Rule: `send` resolves only when the receiver has taken the whole batch; it may be sent again after any failure.
 */
import type { ExportBatch } from './export-batch.ts'

export interface ExportTarget {
  /** Resolves with the number of rows that the receiver has refused for good. Throws ExportError. */
  send(batch: ExportBatch): Promise<number>
  /** Ends what is under way. */
  close(): Promise<void>
}

/** The receiver has not confirmed a batch. `reason`: of a bounded number. */
export class ExportError extends Error {
  readonly reason: string
  constructor(reason: string, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.reason = reason
  }
}

/** PEM texts. */
export interface TargetTls {
  /** Absent: the authorities of Node. */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export const SEND_MS_MAX = 30_000
