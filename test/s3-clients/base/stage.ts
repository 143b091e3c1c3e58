/**
 * Where the script of one client plays: its folder, its names of buckets, and another node for each step.
 *
 * Owns: the outcome of each step. Knows nothing of: what a step does.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { NativeView } from './native-view.ts'
import type { Sizes } from './sizes.ts'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretKey: string
}

export interface PlayedStep {
  readonly name: string
  readonly endpoint: string
  readonly seconds: number
  /** Null: it passed. */
  readonly failure: string | null
}

export interface StageOptions {
  /** Starts the names of its buckets: lower-case letters, digits and hyphens. */
  readonly name: string
  /** Made for this stage; the caller removes it. */
  readonly folder: string
  readonly endpoints: readonly string[]
  readonly credentials: Credentials
  readonly native: NativeView
  readonly sizes: Sizes
  /** Play the steps after one that failed as well; most of them need it. */
  readonly keepsGoing: boolean
  /** Called after each step. */
  readonly onStep: (step: PlayedStep) => void
}

export class StepFailed extends Error {}

const FAILURE_CHARACTERS_MAX = 6000

export class Stage {
  readonly steps: PlayedStep[] = []
  readonly folder: string
  readonly credentials: Credentials
  readonly native: NativeView
  readonly sizes: Sizes
  readonly keepsGoing: boolean
  readonly #options: StageOptions
  #turn = 0

  constructor(options: StageOptions) {
    this.#options = options
    this.folder = options.folder
    this.credentials = options.credentials
    this.native = options.native
    this.sizes = options.sizes
    this.keepsGoing = options.keepsGoing
    mkdirSync(options.folder, { recursive: true })
  }

  bucket(suffix: string): string {
    return `${this.#options.name}-${suffix}`
  }

  path(...names: readonly string[]): string {
    return join(this.folder, ...names)
  }

  /** In the order in which the next steps use them. */
  get endpoints(): readonly string[] {
    return this.#options.endpoints
  }

  /** Plays a step at the next node. Throws StepFailed when it failed, unless the stage keeps going. */
  async step(name: string, work: (endpoint: string) => Promise<unknown>): Promise<void> {
    const { endpoints } = this.#options
    const endpoint = endpoints[this.#turn++ % endpoints.length] ?? ''
    const start = performance.now()
    let failure: string | null = null
    try {
      await work(endpoint)
    } catch (error) {
      failure = (error instanceof Error ? (error.stack ?? error.message) : String(error)).slice(
        0,
        FAILURE_CHARACTERS_MAX,
      )
    }
    this.record({ name, endpoint, seconds: (performance.now() - start) / 1000, failure })
  }

  /** A step that another process has played. Throws like `step`. */
  record(step: PlayedStep): void {
    this.steps.push(step)
    this.#options.onStep(step)
    if (step.failure !== null && !this.keepsGoing) throw new StepFailed(step.failure)
  }
}
