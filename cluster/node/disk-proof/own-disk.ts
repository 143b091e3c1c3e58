/**
 * How far this process may rely on its own data directory, from its start to its stop.
 *
 * Owns: the verdict of the start, which is withdrawn, and noted so, once the node has caught up. Knows nothing of: evidence, votes.
 * Rule: a note that cannot be written leaves the next process suspect, which costs only time.
 */
import { findingsIn, trustAt } from './disk-findings.ts'
import { type DiskProof, TRUSTED_DISK } from '../base/disk-proof.ts'
import type { MachineRecord } from '../base/machine-record.ts'
import type { DiskTrust } from '../../raft/types.ts'
import type { Logger, OpenedState } from '../../base/types.ts'
import type { WalContent } from '../../wal/wal.ts'

export class OwnDisk {
  readonly #proof: DiskProof
  readonly #logger: Logger
  #trust: DiskTrust = 'proved'
  #confirming: Promise<void> = Promise.resolve()

  constructor(proof: DiskProof | undefined, logger: Logger) {
    this.#proof = proof ?? TRUSTED_DISK
    this.#logger = logger
  }

  async judge(log: WalContent, state: OpenedState): Promise<void> {
    this.#trust = await this.#proof.judge(findingsIn(log, state))
  }

  trustAt(record: MachineRecord): DiskTrust {
    return trustAt(record, this.#trust)
  }

  confirm(): void {
    this.#confirming = this.#proof
      .confirm()
      .catch((err: unknown) => this.#logger.warn({ err }, 'disk not noted as current'))
  }

  /** Everything on it is closed. */
  async stopped(isInOrder: boolean): Promise<void> {
    await this.#confirming
    if (isInOrder) await this.#proof.stopped()
  }
}
