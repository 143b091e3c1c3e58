/**
 * What operations and workers need of backups: targets by text, and what is behind S3 targets of the cluster: connections, time, chance.
 *
 * Owns: how they are put together. Rule: the same guard that holds webhooks decides where a connection goes, with the addresses that an owner may name.
 */
import { lookup } from 'node:dns/promises'
import { setTimeout as wait } from 'node:timers/promises'
import type { buildConnector } from 'undici'
import type { Cluster } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { MasterKeyReport } from '../access/master-key-report.ts'
import { nodeTargets } from '../backup/targets/open-target.ts'
import type { S3Outside } from '../backup/targets/s3-requests.ts'
import { TargetBook } from '../backup/targets/target-book.ts'
import { TargetRefused } from '../backup/targets/target.ts'
import type { Config } from '../config/types.ts'
import type { Services } from '../operations/base/services.ts'
import { isStoreAddress } from '../operations/notifications/public-address.ts'
import type { StateReader } from '../store/reads/state-reader.ts'
import { guardedConnector, type Resolve, TargetRefusedError } from '../workers/webhooks/guarded-connector.ts'

export interface BackupServicesParts {
  readonly config: Pick<Config, 'backup'>
  readonly state: StateReader
  readonly masterKey: MasterKey
  readonly cluster: { readonly time: Pick<Cluster['time'], 'now'> }
  /** Ends the waits of requests. Absent: nothing ends them. */
  readonly stopping?: AbortSignal
}

function backupServices(parts: BackupServicesParts): Services['backups'] {
  const { config, state, masterKey } = parts
  const openDirectory = nodeTargets(config.backup.directory)
  const outside = (ca: string | null): S3Outside => storeOutside(parts, ca)
  const book = new TargetBook({ state, masterKey, openDirectory, outside })
  return { openTarget: (text) => book.open(text), book, masterKey }
}

export function underMasterKey(
  parts: BackupServicesParts,
): Pick<Services, 'signing' | 'masterKeys' | 'backups'> {
  const { masterKey } = parts
  return { signing: masterKey, masterKeys: new MasterKeyReport(masterKey), backups: backupServices(parts) }
}

function storeOutside({ cluster, stopping }: BackupServicesParts, ca: string | null): S3Outside {
  return {
    connect: storeConnector(ca),
    now: () => cluster.time.now(),
    wait: (ms) => wait(ms, undefined, stopping === undefined ? {} : { signal: stopping }),
    random: Math.random,
  }
}

/** As the machine resolves names: an owner may mean a name of its hosts file. */
const resolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address)

function storeConnector(ca: string | null): buildConnector.connector {
  const guard = { resolve, isAllowed: isStoreAddress, ...(ca === null ? {} : { ca }) }
  const connect = guardedConnector(guard, false)
  return (options, callback) =>
    connect(options, (...outcome) => {
      if (outcome[0] instanceof TargetRefusedError) callback(refused(options.hostname, outcome[0]), null)
      else callback(...outcome)
    })
}

function refused(host: string, cause: Error): TargetRefused {
  return new TargetRefused(
    `Connections to "${host.slice(0, 80)}" are not made: it has no address, or one of a single link, of many machines, or of the metadata of a cloud`,
    { cause },
  )
}
