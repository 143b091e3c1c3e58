/**
 * Three nodes with two disks each, which can be broken: what they hold, and what they say of it.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { parse, stringify } from 'yaml'
import { until } from '../helpers/async.ts'
import { ProcessCluster, serverCommand, sha256, temporaryFolder } from '../helpers/process-cluster.ts'

const LOADER = fileURLToPath(new URL('../helpers/disk-faults.ts', import.meta.url))
/** Of their own files, not in packs. */
const OBJECT_BYTES = 300_000

interface Placement {
  readonly chunks: number
  readonly held: { readonly copies: number }
  readonly owed: { readonly copies: number }
  readonly nodes: readonly { readonly nodeId: string; readonly disks: readonly Disk[] | null }[]
}

interface Disk {
  readonly directory: string
  readonly status: string
}

interface Written {
  readonly node: object
}

export class DisksScene {
  readonly cluster: ProcessCluster
  readonly #disks: string
  readonly #faults: string
  readonly stored = new Map<string, string>()

  private constructor(cluster: ProcessCluster, disks: string, faults: string) {
    this.cluster = cluster
    this.#disks = disks
    this.#faults = faults
  }

  static async set(t: Test): Promise<DisksScene> {
    const [disks, faults] = [temporaryFolder(t), temporaryFolder(t)]
    const cluster = await ProcessCluster.start(t, 3, null, {
      beforeStart: async ({ plan }) => {
        for (const { nodeId, configFile } of plan) {
          const directories = ['d1', 'd2'].map((name) => join(disks, `${nodeId}-${name}`))
          for (const directory of directories) mkdirSync(directory)
          const { node, ...rest } = parse(readFileSync(configFile, 'utf8')) as Written
          const written = { ...rest, node: { ...node, blob_directories: directories } }
          writeFileSync(configFile, stringify(written))
        }
      },
      launch: (node) => {
        const [program = '', ...args] = serverCommand(node)
        const env = { HOLDFAST_DISK_FAULTS: join(faults, node.nodeId) }
        return { command: [program, '--import', LOADER, ...args], env }
      },
    })
    await cluster.login('n1')
    t.equal((await cluster.call('n1', 'POST', '/buckets', '{"name":"work"}')).status, 201)
    return new DisksScene(cluster, disks, faults)
  }

  directory(nodeId: string, disk: string): string {
    return join(this.#disks, `${nodeId}-${disk}`)
  }

  break(nodeId: string, disk: string): void {
    writeFileSync(join(this.#faults, nodeId), JSON.stringify({ broken: this.directory(nodeId, disk) }))
  }

  async store(t: Test, count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const [path, bytes] = [`/buckets/work/objects/${this.stored.size}`, randomBytes(OBJECT_BYTES)]
      t.equal((await this.cluster.call('n1', 'PUT', path, bytes)).status, 200)
      this.stored.set(path, sha256(bytes))
    }
  }

  async assertReadable(t: Test): Promise<void> {
    for (const { nodeId } of this.cluster.plan) {
      let wrong = 0
      for (const [path, digest] of this.stored)
        if (sha256((await this.cluster.call(nodeId, 'GET', path)).body) !== digest) wrong++
      t.equal(wrong, 0, `${nodeId} reads every object`)
    }
  }

  /** Files of copies on a disk. */
  copiesOn(nodeId: string, disk: string): number {
    const files = readdirSync(this.directory(nodeId, disk), { recursive: true, encoding: 'utf8' })
    return files.filter((path) => /^[0-9a-f]{2}\/[0-9a-f]{16,}\./.test(path)).length
  }

  async placement(): Promise<Placement> {
    const { adminUrl } = this.cluster.node('n1')
    const answer = await fetch(`${adminUrl}/admin/api/v1/cluster/placement`, {
      headers: { authorization: `Bearer ${this.cluster.setup.ownerToken}` },
    })
    return (await answer.json()) as Placement
  }

  async statusOf(nodeId: string, disk: string): Promise<string | undefined> {
    const { nodes } = await this.placement()
    const disks = nodes.find((node) => node.nodeId === nodeId)?.disks
    return disks?.find(({ directory }) => directory === this.directory(nodeId, disk))?.status
  }

  /** Every member has every object, and on this node's disk are this many copies of all. */
  async untilWhole(what: string, isThere: () => boolean): Promise<void> {
    await until(what, async () => {
      const { chunks, held, owed } = await this.placement()
      return chunks === this.stored.size && held.copies === 3 * chunks && owed.copies === 0 && isThere()
    })
  }
}
