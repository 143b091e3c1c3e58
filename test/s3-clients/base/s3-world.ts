/**
 * Three real nodes that all clients share, and the playing of one script after the other on them.
 *
 * Owns: the cluster, the folders. Rule: each script has buckets and a folder of its own, so a failure of one does not reach the next.
 */
import { join } from 'node:path'
import { ProcessCluster, temporaryFolder } from '../../helpers/process-cluster.ts'
import type { FoundClient } from './client-script.ts'
import { NativeView } from './native-view.ts'
import type { Sizes } from './sizes.ts'
import { type PlayedStep, Stage, StepFailed } from './stage.ts'

type Teardown = Parameters<typeof ProcessCluster.start>[0]

export interface PlayOptions {
  readonly sizes: Sizes
  readonly keepsGoing: boolean
  readonly onStep?: (step: PlayedStep) => void
}

export class S3World {
  readonly cluster: ProcessCluster
  readonly #native: NativeView
  readonly #folder: string
  readonly #credentials: { readonly accessKeyId: string; readonly secretKey: string }
  #played = 0

  static async start(t: Teardown): Promise<S3World> {
    const folder = temporaryFolder(t)
    const cluster = await ProcessCluster.start(t, 3)
    const world = new S3World(cluster, folder)
    t.teardown(() => world.#native.close())
    return world
  }

  private constructor(cluster: ProcessCluster, folder: string) {
    const { accessKeyId, secretKey } = cluster.setup
    if (accessKeyId === null || secretKey === null) throw new Error('the cluster has no access key')
    this.cluster = cluster
    this.#folder = folder
    this.#credentials = { accessKeyId, secretKey }
    this.#native = new NativeView(this.endpoints.toReversed(), this.#credentials)
  }

  get endpoints(): readonly string[] {
    return this.cluster.plan.map(({ dataUrl }) => dataUrl)
  }

  /** Resolves with the steps that were played, the last one may have failed. */
  async play(name: string, client: FoundClient, options: PlayOptions): Promise<readonly PlayedStep[]> {
    const own = `${name}-${++this.#played}`
    const stage = new Stage({
      name: own,
      folder: join(this.#folder, own),
      endpoints: this.endpoints,
      credentials: this.#credentials,
      native: this.#native,
      sizes: options.sizes,
      keepsGoing: options.keepsGoing,
      onStep: options.onStep ?? (() => undefined),
    })
    try {
      await client.play(stage)
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
    }
    return stage.steps
  }
}
