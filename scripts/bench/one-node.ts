/**
 * The state of one node in a temporary folder, for a benchmark of what is applied to it; there is no log.
 *
 * Owns: the folder, the entries and their times, how long the longest took. Knows nothing of: what is measured. Rule: commands take effect one entry
 * after the other, as in a log.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { FEATURE_LEVEL } from '../../cluster/node/base/feature-level.ts'
import { decodeReply, encodeCommand } from '../../src/commands/command-codec.ts'
import { createPropose } from '../../src/commands/propose.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import { openStore } from '../../src/store/open-store.ts'
import { keyAt, LARGE_BUCKET, putOf } from './listing-rows.ts'

const COMMANDS_PER_ENTRY = 1000
const START_MS = 1_900_000_000_000

type Put = ReturnType<typeof putOf>

export class OneNode {
  readonly logger = pino({ level: 'silent' })
  readonly #dir: string
  readonly #store: ReturnType<typeof openStore>
  #index = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** Of the log, beyond a millisecond for each entry. ms */
  laterMs = 0
  longestEntryMs = 0

  /** `metadataKey`: null, the rows lie on the disk as they are. */
  constructor(name: string, metadataKey: Uint8Array | null = null) {
    this.#dir = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
    this.#store = openStore({ dir: this.#dir, logger: this.logger, metadataKey })
  }

  get reader(): ReturnType<typeof openStore>['reader'] {
    return this.#store.reader
  }

  /** Cluster time, confirmed. ms since 1970 */
  get time(): number {
    return START_MS + this.#index + this.laterMs
  }

  readonly propose = createPropose({ propose: (command) => this.#inTurn(command) })

  async open(): Promise<void> {
    await this.#store.stateMachine.open()
  }

  async close(): Promise<void> {
    await this.#store.stateMachine.close()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  /** In one entry. Throws when one is refused. */
  async commit(commands: readonly Command[]): Promise<void> {
    for (const reply of (await this.#apply(commands.map(encodeCommand))).map(decodeReply))
      if (!reply.ok) throw new Error(reply.message)
  }

  /** The tenant `acme` with this many small objects in LARGE_BUCKET, after `further`. */
  async fill(
    objects: number,
    {
      further = [],
      change = (put) => put,
    }: { further?: readonly Command[]; change?: (put: Put, n: number) => Put } = {},
  ): Promise<void> {
    const keys = { dataKey: Buffer.alloc(32), dedupKey: Buffer.alloc(32), masterKeyId: 'mk-1' }
    const plain = { bucketsMax: 1, versioning: 'Unversioned', objectLockEnabled: false } as const
    await this.commit([
      { type: 'createTenant', id: 'acme', name: 'acme', ...keys },
      { type: 'createBucket', tenantId: 'acme', name: LARGE_BUCKET, ...plain },
      ...further,
    ])
    for (let n = 0; n < objects; n += COMMANDS_PER_ENTRY) {
      const count = Math.min(COMMANDS_PER_ENTRY, objects - n)
      const putAt = (at: number): Put => change(putOf(at, { bucket: LARGE_BUCKET, key: keyAt(at) }), at)
      await this.commit(Array.from({ length: count }, (_, i) => putAt(n + i)))
    }
  }

  async #apply(commands: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
    this.#index++
    const { time } = this
    const times = { time, confirmedTime: time, orderTime: time }
    const entry = { index: this.#index, ...times, featureLevel: FEATURE_LEVEL, commands }
    const start = performance.now()
    const record = Buffer.from(`${this.#index}`)
    const [replies = []] = await this.#store.stateMachine.apply({ entries: [entry], record })
    this.longestEntryMs = Math.max(this.longestEntryMs, performance.now() - start)
    return replies
  }

  #inTurn(command: Uint8Array): Promise<Uint8Array> {
    const applied = this.#turn.then(async () => (await this.#apply([command]))[0] ?? new Uint8Array())
    this.#turn = applied.catch(() => undefined)
    return applied
  }
}
