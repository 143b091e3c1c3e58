/**
 * Sources of states for the contract of the StateMachine port: a filled one, a counted one, one that breaks.
 */
import type { Test } from 'tap'
import type { StateBlock, StateBlockRequest, StateMachine, StateSource } from '../../cluster/base/types.ts'
import { batchOf, fillings, opened, type StateMachinePlace } from './state-machine.ts'

type MakePlace = (t: Test) => Promise<StateMachinePlace>

/** Rows for three blocks. */
export const FILLINGS = 8
export const START = new Uint8Array()

export interface Source {
  readonly place: StateMachinePlace
  readonly machine: StateMachine
}

export async function filledSource(t: Test, makePlace: MakePlace): Promise<Source> {
  const place = await makePlace(t)
  const machine = await opened(t, place)
  await machine.apply(batchOf(1, fillings(place, FILLINGS)))
  return { place, machine }
}

/** Every block of a source, pulled by a caller that holds nothing. */
export async function blocksOf(source: StateSource): Promise<StateBlock[]> {
  const blocks: StateBlock[] = []
  for (let after: Uint8Array = START; ; ) {
    const block = await source.block({ after, held: null })
    blocks.push(block)
    if (block.isEnd) return blocks
    after = block.through
  }
}

/** The source, with every answer passed through `answer`; counts the blocks. */
export class Wire implements StateSource {
  readonly record: Uint8Array
  readonly checksum: Uint8Array
  readonly #source: StateSource
  readonly #answer: (block: StateBlock, request: StateBlockRequest) => StateBlock
  readonly asked: StateBlockRequest[] = []
  /** Blocks that came with rows. */
  carried = 0

  constructor(
    source: StateSource,
    answer: (block: StateBlock, request: StateBlockRequest) => StateBlock = (block) => block,
  ) {
    this.record = source.record
    this.checksum = source.checksum
    this.#source = source
    this.#answer = answer
  }

  async block(request: StateBlockRequest): Promise<StateBlock> {
    this.asked.push(request)
    const block = this.#answer(await this.#source.block(request), request)
    if (block.rows !== null) this.carried += 1
    return block
  }
}

/** Gives `count` blocks and then breaks. */
export function breakingAfter(source: StateSource, count: number): Wire {
  let left = count
  return new Wire(source, (block) => {
    if (left-- === 0) throw new Error('the source is gone')
    return block
  })
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
