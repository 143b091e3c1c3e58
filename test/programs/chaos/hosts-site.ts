/**
 * Hosts for a cluster: networks, disks, certificates, and how a node is started on each.
 *
 * Owns: the composition. Knows nothing of: faults, load.
 * Rule: to be called inside of the corner that private-host.ts makes, and nowhere else.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { TlsFiles } from '../../../cluster/base/types.ts'
import type { NodePlan } from '../../../src/cli/up/setup.ts'
import { type Site, serverCommand } from '../../helpers/process-cluster.ts'
import { TestAuthority } from '../../transport/test-certificates.ts'
import { clientAddress, hostOf, inSpace, knownAddress, PORTS, SITE_ADDRESS, spaceOf } from './host-plan.ts'
import { HostNetwork } from './host-network.ts'
import { NodeDisk } from './node-disk.ts'
import { RUN_DIR } from './private-host.ts'

const DISK_FAULTS = fileURLToPath(new URL('../../helpers/disk-faults.ts', import.meta.url))
/** Of each host. It is memory, used as far as it is written. */
const DISK_BYTES = 512 * 1024 * 1024
/** Space that is not needed any more must come back during a run; downloads are short, and many members come in a minute. */
const SETTINGS = {
  cluster: { collect_after: '5s', promote_after: '2s' },
  // Polled more often than people do.
  limits: { admin_requests_per_minute: 10_000, admin_requests_burst: 10_000 },
  // All hosts see the files of the run.
  backup: { directory: join(RUN_DIR, 'backups') },
  notifications: { allow_http: true, allow_origins: [`http://${SITE_ADDRESS}:${PORTS.data}`] },
}

export class Hosts {
  readonly network = new HostNetwork()
  readonly disks = new Map<string, NodeDisk>()
  /** Of nodes that start with a small one. MiB */
  readonly heaps = new Map<string, number>()
  readonly #folder = join(RUN_DIR, 'cluster')
  readonly #configFile = join(RUN_DIR, 'settings.yaml')
  // All of RUN_DIR ends with the run, keys too.
  readonly #authority = new TestAuthority({ teardown: () => undefined }, 'chaos')
  readonly #certificates = new Map<string, TlsFiles>()

  constructor() {
    mkdirSync(join(RUN_DIR, 'logs'))
    mkdirSync(join(RUN_DIR, 'backups'))
    writeFileSync(this.#configFile, stringify(SETTINGS))
  }

  /** A cluster on this many new hosts. */
  async site(nodes: number): Promise<Site> {
    const plan: NodePlan[] = []
    while (plan.length < nodes) plan.push(await this.add())
    return {
      options: {
        nodes,
        dataDir: this.#folder,
        basePort: PORTS.data,
        json: true,
        configFile: this.#configFile,
        restart: false,
      },
      plan,
      launch: (node) => this.#launch(node),
    }
  }

  /** A new host with an empty disk, for a node of a new name. */
  async add(): Promise<NodePlan> {
    const host = await this.network.addHost()
    const nodeId = spaceOf(host)
    const disk = await NodeDisk.mount(join(RUN_DIR, 'disks', nodeId), DISK_BYTES)
    this.disks.set(nodeId, disk)
    this.#certificates.set(nodeId, this.#authority.issue({ commonName: nodeId, san: `DNS:${nodeId}` }))
    return {
      nodeId,
      dataUrl: `http://${clientAddress(host)}:${PORTS.data}`,
      adminUrl: `http://${clientAddress(host)}:${PORTS.admin}`,
      peerAddress: `${knownAddress(host)}:${PORTS.peer}`,
      dataDir: disk.dataDir,
      configFile: join(this.#folder, `${nodeId}.yaml`),
      logFile: join(RUN_DIR, 'logs', `${nodeId}.log`),
    }
  }

  diskOf(nodeId: string): NodeDisk {
    const disk = this.disks.get(nodeId)
    if (disk === undefined) throw new Error(`${nodeId} has no disk`)
    return disk
  }

  /** Its node has ended for good. */
  async remove(nodeId: string): Promise<void> {
    await this.network.removeHost(hostOf(nodeId))
    await this.disks.get(nodeId)?.unmount()
    this.disks.delete(nodeId)
  }

  #launch(node: NodePlan): ReturnType<Site['launch']> {
    const tls = this.#certificates.get(node.nodeId)
    const [program = '', ...args] = serverCommand(node)
    const heap = this.heaps.get(node.nodeId)
    const memory = heap === undefined ? [] : [`--max-old-space-size=${heap}`]
    const command = [program, ...memory, '--import', DISK_FAULTS, ...args]
    return {
      command: inSpace(hostOf(node.nodeId), command),
      env: {
        HOLDFAST_NODE__DATA_DIR: node.dataDir,
        HOLDFAST_DISK_FAULTS: this.diskOf(node.nodeId).faultsFile,
        HOLDFAST_NODE__WITNESS_DIR: this.diskOf(node.nodeId).witnessDir,
        // The network of the hosts is private: it exists in namespaces of this run alone.
        HOLDFAST_LISTENERS__DATA_PLAIN: 'true',
        HOLDFAST_LISTENERS__ADMIN_PLAIN: 'true',
        HOLDFAST_PEER_TLS__CA: tls?.ca ?? '',
        HOLDFAST_PEER_TLS__CERT: tls?.cert ?? '',
        HOLDFAST_PEER_TLS__KEY: tls?.key ?? '',
      },
    }
  }
}
