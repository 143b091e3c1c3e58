/**
 * Another cluster of one node, at the hub, for a bucket that is replicated to it.
 *
 * Owns: its files and process. Knows nothing of: faults of the hosts, which do not reach it.
 * Rule: to be started inside of the corner that private-host.ts makes, and nowhere else.
 */
import { join } from 'node:path'
import { ProcessCluster, serverCommand } from '../../helpers/process-cluster.ts'
import { PORTS, SITE_ADDRESS } from './host-plan.ts'
import { RUN_DIR } from './private-host.ts'

const FOLDER = join(RUN_DIR, 'second-site')
const NODE = {
  nodeId: 'site',
  dataUrl: `http://${SITE_ADDRESS}:${PORTS.data}`,
  adminUrl: `http://${SITE_ADDRESS}:${PORTS.admin}`,
  peerAddress: `127.0.0.1:${PORTS.peer}`,
  dataDir: join(FOLDER, 'site'),
  configFile: join(FOLDER, 'site.yaml'),
  logFile: join(RUN_DIR, 'logs', 'site.log'),
}

export function startSecondSite(): Promise<ProcessCluster> {
  return ProcessCluster.startAt(
    { teardown: () => undefined },
    {
      options: {
        nodes: 1,
        dataDir: FOLDER,
        basePort: PORTS.data,
        json: true,
        configFile: null,
        restart: false,
      },
      plan: [NODE],
      launch: (node) => ({
        command: serverCommand(node),
        env: { HOLDFAST_LISTENERS__DATA_PLAIN: 'true', HOLDFAST_LISTENERS__ADMIN_PLAIN: 'true' },
      }),
    },
  )
}
