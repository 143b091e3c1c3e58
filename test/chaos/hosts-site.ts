/**
 * Hosts for a cluster: networks, disks, certificates, and how a node is started on each.
 *
 * Owns: the composition. Knows nothing of: faults, load.
 * Rule: to be called inside of the corner that private-host.ts makes, and nowhere else.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { NodePlan } from '../../scripts/local-setup.ts'
import { type Site, serverCommand } from '../helpers/process-cluster.ts'
import { TestAuthority } from '../transport/test-certificates.ts'
import { clientAddress, inSpace, knownAddress, PORTS, spaceOf } from './host-plan.ts'
import { HostNetwork } from './host-network.ts'
import { NodeDisk } from './node-disk.ts'
import { RUN_DIR } from './private-host.ts'

/** Of each host. It is memory, used as far as it is written. */
const DISK_BYTES = 512 * 1024 * 1024
/** Space that is not needed any more must come back during a run; downloads are short. */
const SETTINGS = { cluster: { collect_after: '5s' } }

export interface HostsSite {
  readonly site: Site
  readonly network: HostNetwork
  readonly disks: ReadonlyMap<string, NodeDisk>
}

export async function makeHosts(nodes: number): Promise<HostsSite> {
  const network = new HostNetwork()
  const disks = new Map<string, NodeDisk>()
  const plan: NodePlan[] = []
  const folder = join(RUN_DIR, 'cluster')
  for (let count = 0; count < nodes; count += 1) {
    const host = await network.addHost()
    const disk = await NodeDisk.mount(join(RUN_DIR, 'disks', spaceOf(host)), DISK_BYTES)
    disks.set(spaceOf(host), disk)
    plan.push(planNode(host, disk, folder))
  }
  return { site: siteOf(plan, folder), network, disks }
}

function planNode(host: number, disk: NodeDisk, folder: string): NodePlan {
  const nodeId = spaceOf(host)
  return {
    nodeId,
    dataUrl: `http://${clientAddress(host)}:${PORTS.data}`,
    adminUrl: `http://${clientAddress(host)}:${PORTS.admin}`,
    peerAddress: `${knownAddress(host)}:${PORTS.peer}`,
    dataDir: disk.dataDir,
    configFile: join(folder, `${nodeId}.yaml`),
    logFile: join(RUN_DIR, 'logs', `${nodeId}.log`),
  }
}

function siteOf(plan: readonly NodePlan[], folder: string): Site {
  mkdirSync(join(RUN_DIR, 'logs'))
  const configFile = join(RUN_DIR, 'settings.yaml')
  writeFileSync(configFile, stringify(SETTINGS))
  // All of RUN_DIR ends with the run, keys too.
  const authority = new TestAuthority({ teardown: () => undefined }, 'chaos')
  const files = new Map(
    plan.map(({ nodeId }) => [nodeId, authority.issue({ commonName: nodeId, san: `DNS:${nodeId}` })]),
  )
  return {
    options: {
      nodes: plan.length,
      dataDir: folder,
      basePort: PORTS.data,
      json: true,
      configFile,
      restart: false,
    },
    plan,
    launch: (node) => {
      const tls = files.get(node.nodeId)
      return {
        command: inSpace(Number(node.nodeId.slice(1)), serverCommand(node)),
        env: {
          HOLDFAST_NODE__DATA_DIR: node.dataDir,
          HOLDFAST_PEER_TLS__CA: tls?.ca ?? '',
          HOLDFAST_PEER_TLS__CERT: tls?.cert ?? '',
          HOLDFAST_PEER_TLS__KEY: tls?.key ?? '',
        },
      }
    },
  }
}
