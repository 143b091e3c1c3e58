/**
 * Everything that refuses a start and can be known before it: by the settings, the files that they name, and the data directory.
 *
 * Owns: the list, in the order of a start. Rules: a start asks here before it changes anything, and so does `holdfast config check`: what
 * one refuses, the other refuses with the same error. Nothing is written, and no network is used. What only a start can find out (ports
 * that are taken, the contents of log and state, the other nodes) is listed in docs/start-errors.md.
 */
import { examineBlobDirectories, examineDirectory, examinePeerTls, StartError } from '../../cluster/index.ts'
import { openProvider } from '../access/key-providers/open-provider.ts'
import { examineLogInFiles } from '../access/oidc/log-in-files.ts'
import { type KeyNames, keyNames } from '../access/provided-keys.ts'
import { ListenerTls } from '../api/listener-tls.ts'
import { plainTextRefusals, type StartRefusal } from '../config/start-refusals.ts'
import type { SettingName } from '../config/settings.ts'
import type { Config } from '../config/types.ts'
import { openTarget } from '../workers/audit-export/open-target.ts'
import { clusterOptions } from './cluster-options.ts'
import { examineDataDir } from './data-dir.ts'

/** `isJoining`: as `holdfast server --join`. */
export async function startRefusals(config: Config, isJoining: boolean): Promise<readonly StartRefusal[]> {
  const found = [...plainTextRefusals(config)]
  const examine = async (setting: SettingName | null, work: () => unknown): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      found.push({ setting, error })
    }
  }
  let keys: KeyNames | null = null
  await examine('security.master_key_file', async () => {
    keys = await keyNames(config.security)
  })
  await examine('security.master_key_provider', () => examineProvider(config.security.keyProvider))
  await examine('node.data_dir', () => examineDataDir(config.node.dataDir))
  const isUsable = found.every(({ setting }) => setting !== 'node.data_dir')
  if (isUsable) await examine(null, () => examineOwner(config, keys, isJoining))
  const { blobDirectories: directories } = config.node
  if (isUsable && directories.length > 0) {
    const expected = { clusterId: config.cluster.id, nodeId: config.node.id, dataDir: config.node.dataDir }
    await examine('node.blob_directories', () => examineBlobDirectories({ ...expected, directories }))
  }
  const { peerTls, dataTls, adminTls, audit } = config
  const self = { clusterId: config.cluster.id, nodeId: config.node.id }
  if (peerTls !== null) await examine('peer_tls.cert', () => examinePeerTls(peerTls, self))
  if (dataTls !== null) await examine('data_tls.cert', () => new ListenerTls('data', dataTls))
  if (adminTls !== null) await examine('admin_tls.cert', () => new ListenerTls('admin', adminTls))
  const { oidc } = config.console
  if (oidc !== null) await examine('console.oidc.issuer', () => examineLogInFiles(oidc))
  if (audit.export !== null) await examine('audit.export.to', () => examineExport(audit.export))
  return found
}

/** Throws StartError for the first of them. */
export async function refuseStart(config: Config, isJoining: boolean): Promise<void> {
  const [first] = await startRefusals(config, isJoining)
  if (first !== undefined) throw first.error
}

/** Whether the data directory belongs to this node, and whether this node is a member. Without a key its owner is compared all the same. */
async function examineOwner(config: Config, keys: KeyNames | null, isJoining: boolean): Promise<void> {
  if (keys !== null) return examineDirectory(clusterOptions(config, keys, isJoining))
  const options = clusterOptions(config, { fingerprint: '', fingerprints: [] }, isJoining)
  try {
    await examineDirectory(options)
  } catch (error) {
    if (!(error instanceof StartError) || error.code !== 'wrong_fingerprint') throw error
  }
}

async function examineProvider(settings: Config['security']['keyProvider']): Promise<void> {
  const provider = await openProvider(settings)
  await provider?.close()
}

async function examineExport(settings: Config['audit']['export']): Promise<void> {
  if (settings === null) return
  const target = await openTarget(settings, () => 0)
  await target.close()
}
