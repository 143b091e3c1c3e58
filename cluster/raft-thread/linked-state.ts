/**
 * The half of the state as the thread of Raft sees it: StatePort over the link.
 *
 * Owns: what the state said last of itself, the sources of installs under way. Knows nothing of: rows, Raft.
 * Rule: what StatePort answers at once is the last that the other thread said; everything else waits for it.
 */
import type {
  ApplyBatch,
  NodeId,
  OpenedState,
  StateBlock,
  StateBlockRequest,
  StateCut,
  StateDamagedError,
  StateMachine,
  StateSource,
} from '../base/types.ts'
import type { StatePort } from '../raft-half/raft-port.ts'
import type { Link } from './link.ts'
import { deserializeError } from './link-errors.ts'
import { LinkedLogger } from './linked-logger.ts'
import type { RaftCalls, StateCalls } from './raft-calls.ts'

type StateLink = Link<StateCalls>

export class LinkedState implements StatePort {
  readonly stateMachine: LinkedStateMachine
  readonly logger: LinkedLogger
  #said: RaftCalls['publishState']['input'] = { downloads: 0, scarce: [] }

  constructor(link: StateLink) {
    this.stateMachine = new LinkedStateMachine(link)
    this.logger = new LinkedLogger(link)
  }

  onSaid(said: RaftCalls['publishState']['input']): void {
    this.#said = said
  }

  downloads(): number {
    return this.#said.downloads
  }

  isScarceAt(peer: NodeId): boolean {
    return this.#said.scarce.includes(peer)
  }
}

/** No `cost`: it travels with the command, and is estimated from the bytes where it does not. */
export class LinkedStateMachine implements StateMachine {
  readonly #link: StateLink
  /** Bounded: Raft installs one state at a time. */
  readonly #sources = new Map<number, StateSource>()
  #lastInstall = 0
  #checksum: Uint8Array = new Uint8Array(32)
  #onDamaged: (error: StateDamagedError) => void = () => {}

  constructor(link: StateLink) {
    this.#link = link
  }

  async open(onDamaged: (error: StateDamagedError) => void = () => {}): Promise<OpenedState> {
    this.#onDamaged = onDamaged
    const { opened, checksum } = await this.#link.call('openState', null)
    this.#checksum = checksum
    return opened
  }

  async apply({ entries, record }: ApplyBatch): Promise<readonly (readonly Uint8Array[])[]> {
    const { replies, checksum } = await this.#link.call('apply', { entries, record })
    this.#checksum = checksum
    return replies
  }

  async checkpoint(): Promise<void> {
    await this.#link.call('checkpoint', null)
  }

  /** As of the last batch that was answered. */
  checksum(): Uint8Array {
    return this.#checksum
  }

  verify(): Promise<string | null> {
    return this.#link.call('verify', null)
  }

  async quarantine(why: string): Promise<void> {
    await this.#link.call('quarantine', why)
  }

  async snapshot(): Promise<StateCut> {
    const { cut, record, checksum } = await this.#link.call('snapshot', null)
    return {
      record,
      checksum,
      block: (request) => this.#link.call('cutBlock', { cut, request }),
      release: async () => void (await this.#link.call('cutRelease', cut)),
    }
  }

  async install(source: StateSource): Promise<Uint8Array> {
    this.#lastInstall += 1
    const install = this.#lastInstall
    this.#sources.set(install, source)
    try {
      const { record, checksum } = source
      const installed = await this.#link.call('install', { install, record, checksum })
      this.#checksum = installed.checksum
      return installed.record
    } finally {
      this.#sources.delete(install)
    }
  }

  async close(): Promise<void> {
    await this.#link.call('closeState', null)
  }

  onDamaged(error: RaftCalls['stateDamaged']['input']): void {
    this.#onDamaged(deserializeError(error))
  }

  sourceBlock(install: number, request: StateBlockRequest): Promise<StateBlock> {
    const source = this.#sources.get(install)
    if (source === undefined) throw new Error(`Install ${install} is not under way`)
    return source.block(request)
  }
}
