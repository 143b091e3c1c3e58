/**
 * Evidence that distinguishes a data directory from a copy of it: `disk-proof.json` and `disk-marker`.
 *
 * Layout: two lines, a record as JSON and its SHA-256 in hex; docs/formats/disk-proof.md. Owns: the evidence. Knows nothing of: the
 * verdict that follows from it (node/disk-proof/disk-verdict.ts), votes. Rule: the verdict is durable before it is reported.
 */
import { createHash, randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../base/file-ops.ts'
import type { DiskFindings, DiskProof } from '../node/base/disk-proof.ts'
import {
  type DiskVerdict,
  type NotedDisk,
  type ProofState,
  verdictOf,
} from '../node/disk-proof/disk-verdict.ts'
import type { DiskTrust } from '../raft/types.ts'
import type { Logger } from '../base/types.ts'
import { readWitness } from '../wal/flush-witness.ts'

const FORMAT = 1
const FILE = 'disk-proof.json'
const MARKER = 'disk-marker'
const HOST_BOOT = '/proc/sys/kernel/random/boot_id'

interface Proof extends NotedDisk {
  /** Names the witness; each declaration of an operator starts another one. */
  readonly witness: string
}

export interface DiskProofOptions {
  readonly dataDir: string
  readonly incarnation: string
  /** Folder for the witness; null: the first folder in memory that this host has. */
  readonly witnessDir: string | null
  readonly logger: Logger
  /** Tests pretend another host with it. */
  readonly hostBootFile?: string
}

export class DiskProofFile implements DiskProof {
  readonly #options: DiskProofOptions
  readonly #found: Proof | null
  readonly #witnessName: string
  #trust: DiskTrust | null = null

  private constructor(options: DiskProofOptions, found: Proof | null) {
    this.#options = options
    this.#found = found
    this.#witnessName = found?.witness ?? newWitnessName()
  }

  static async open(options: DiskProofOptions): Promise<DiskProofFile> {
    return new DiskProofFile(options, await readProof(options.dataDir))
  }

  /** The file to which the log reports its flushes; null: this host has no folder for it. */
  get witness(): string | null {
    const { witnessDir, incarnation } = this.#options
    const folder = witnessDir ?? ['/dev/shm', process.env['XDG_RUNTIME_DIR'] ?? ''].find(isFolder)
    if (folder === undefined) return null
    return join(folder, `holdfast-${incarnation}-${this.#witnessName}.flushed`)
  }

  async judge(findings: DiskFindings): Promise<DiskTrust> {
    const { dataDir, logger } = this.#options
    const { trust, why } = await this.#verdict(findings)
    this.#trust = trust
    if (trust !== 'proved') logger.warn({ trust, why, dataDir }, 'disk is not proved current')
    await this.#write(trust === 'proved' ? 'running' : trust)
    return trust
  }

  async confirm(): Promise<void> {
    if (this.#trust === 'proved') return
    this.#trust = 'proved'
    await this.#write('running')
  }

  async stopped(): Promise<void> {
    if (this.#trust === 'proved') await this.#write('stopped')
  }

  async #verdict(findings: DiskFindings): Promise<DiskVerdict> {
    const { witness } = this
    return verdictOf({
      findings,
      seen: witness === null ? null : readWitness(witness),
      noted: this.#found,
      marker: await markerOf(this.#options.dataDir),
      hostBoot: await this.#hostBoot(),
    })
  }

  async #hostBoot(): Promise<string | null> {
    try {
      return (await readFile(this.#options.hostBootFile ?? HOST_BOOT, 'utf8')).trim()
    } catch {
      return null
    }
  }

  async #write(state: ProofState): Promise<void> {
    const { dataDir } = this.#options
    const marker = await madeMarker(dataDir)
    const hostBoot = await this.#hostBoot()
    await writeProof(dataDir, { state, hostBoot, marker, witness: this.#witnessName })
  }
}

/** The state that the last start or declaration noted; null: nothing is noted, or the note cannot be read. */
export async function notedState(dataDir: string): Promise<ProofState | null> {
  return (await readProof(dataDir))?.state ?? null
}

/**
 * Records that this directory is current, by the word of an operator or of a plan. The old witness no longer counts.
 * Durable when it resolves.
 */
export async function declareCurrent(dataDir: string): Promise<void> {
  const marker = await madeMarker(dataDir)
  await writeProof(dataDir, { state: 'stopped', hostBoot: null, marker, witness: newWitnessName() })
}

function newWitnessName(): string {
  return randomBytes(4).toString('hex')
}

async function readProof(dataDir: string): Promise<Proof | null> {
  try {
    const [line = '', digest] = (await readFile(join(dataDir, FILE), 'utf8')).split('\n')
    if (digest !== digestOf(line)) return null
    const { format, ...proof } = JSON.parse(line) as Proof & { readonly format: unknown }
    return format === FORMAT ? proof : null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code !== 'ENOENT') throw error
    return null
  }
}

async function writeProof(dataDir: string, { state, hostBoot, marker, witness }: Proof): Promise<void> {
  const line = JSON.stringify({ format: FORMAT, state, hostBoot, marker, witness })
  const temporary = join(dataDir, `${FILE}.tmp`)
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${line}\n${digestOf(line)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, join(dataDir, FILE))
  await syncDirectory(dataDir)
}

async function markerOf(dataDir: string): Promise<string | null> {
  try {
    const { ino, birthtimeNs } = await stat(join(dataDir, MARKER), { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch {
    return null
  }
}

async function madeMarker(dataDir: string): Promise<string> {
  const found = await markerOf(dataDir)
  if (found !== null) return found
  const file = await open(join(dataDir, MARKER), 'a', 0o600)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
  await syncDirectory(dataDir)
  return (await markerOf(dataDir)) ?? ''
}

function digestOf(line: string): string {
  return createHash('sha256').update(line).digest('hex')
}

function isFolder(path: string): boolean {
  return path !== '' && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
