/**
 * The evidence outside the data of a simulated directory: the boot of its host, the inode of its marker, the witness in memory.
 *
 * Owns: which part of it a copy, a volume that is set back and a power cut change. Knows nothing of: the verdict, which is the code of the
 * service. Rule: as on a real machine; a witness outlives the process and not the host, a copy has another marker.
 */
import type { DiskFindings, DiskProof } from '../../../cluster/node/base/disk-proof.ts'
import { type NotedDisk, type ProofState, verdictOf } from '../../../cluster/node/disk-proof/disk-verdict.ts'
import type { DiskTrust } from '../../../cluster/raft/types.ts'

/** Part of the directory. */
export interface DirectoryProof {
  readonly noted: NotedDisk | null
  readonly marker: string
  /** Names the witness. */
  readonly witness: string
}

export class SimEvidence {
  #host = 1
  #markers = 1
  #names = 1
  #witnesses = new Map<string, number>()
  directory: DirectoryProof = { noted: null, marker: '1', witness: '1' }

  get hostBoot(): string {
    return String(this.#host)
  }

  get seen(): number | null {
    return this.#witnesses.get(this.directory.witness) ?? null
  }

  flushed(batch: number): void {
    this.#witnesses.set(this.directory.witness, batch)
  }

  note(state: ProofState): void {
    const { hostBoot } = this
    const { marker } = this.directory
    this.directory = { ...this.directory, noted: { state, hostBoot, marker } }
  }

  hostLost(): void {
    this.#host += 1
    this.#witnesses.clear()
  }

  /** `inPlace`: the volume is set back; otherwise the files are written again. */
  putBack(directory: DirectoryProof, inPlace: boolean): void {
    this.directory = inPlace ? directory : { ...directory, marker: this.#newMarker() }
  }

  emptied(): void {
    this.directory = { noted: null, marker: this.#newMarker(), witness: this.#newName() }
  }

  /** As `holdfast recover trust-disk` does it. */
  declareCurrent(): void {
    this.directory = { ...this.directory, witness: this.#newName() }
    this.note('stopped')
  }

  #newMarker(): string {
    this.#markers += 1
    return String(this.#markers)
  }

  #newName(): string {
    this.#names += 1
    return String(this.#names)
  }
}

export interface SimDiskProofParts {
  readonly evidence: () => SimEvidence
  /** Resolves when a small file is durable. */
  readonly flush: () => Promise<void>
  readonly onJudged: (trust: DiskTrust) => void
  readonly onConfirmed: () => void
}

/** For one process. */
export class SimDiskProof implements DiskProof {
  readonly #parts: SimDiskProofParts
  #trust: DiskTrust = 'suspect'

  constructor(parts: SimDiskProofParts) {
    this.#parts = parts
  }

  async judge(findings: DiskFindings): Promise<DiskTrust> {
    const { seen, hostBoot, directory } = this.#parts.evidence()
    const { noted, marker } = directory
    const { trust } = verdictOf({ findings, seen, noted, marker, hostBoot })
    this.#trust = trust
    await this.#write(trust === 'proved' ? 'running' : trust)
    this.#parts.onJudged(trust)
    return trust
  }

  async confirm(): Promise<void> {
    if (this.#trust !== 'proved') await this.#write('running')
    this.#trust = 'proved'
    this.#parts.onConfirmed()
  }

  async stopped(): Promise<void> {
    if (this.#trust === 'proved') await this.#write('stopped')
  }

  async #write(state: ProofState): Promise<void> {
    await this.#parts.flush()
    this.#parts.evidence().note(state)
  }
}
