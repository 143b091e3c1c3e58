/**
 * `holdfast master-key add` and `list`: the key file of a node's configuration.
 *
 * Owns: what is printed. Rule: ids and fingerprints only; a key is never shown. Neither command talks to a node, and a
 * running one reads its key file at its next start.
 */
import { MasterKey } from '../access/master-key.ts'
import { loadConfig } from '../config/load-config.ts'
import { EXIT } from './exit.ts'

export async function addMasterKey(configFile: string): Promise<number> {
  const file = keyFileOf(configFile)
  const [newest, ...older] = (await MasterKey.add(file)).ids
  process.stdout.write(
    `${file} holds the new master key ${newest} in front of ${older.join(', ')}. ` +
      'Copy the file to every node and a safe place, then restart the nodes one after the other: deploy/runbooks/rotate-master-key.md\n',
  )
  return EXIT.done
}

export async function listMasterKeys(options: { config: string; json?: boolean }): Promise<number> {
  const masterKey = await MasterKey.load(keyFileOf(options.config))
  const { ids, fingerprints } = masterKey
  const keys = ids.map((id, at) => ({ id, fingerprint: fingerprints[at], newest: at === 0 }))
  const lines = keys.map(
    ({ id, fingerprint, newest }) => `${id}  ${fingerprint}${newest ? '  newest' : ''}\n`,
  )
  process.stdout.write(options.json === true ? `${JSON.stringify({ keys })}\n` : lines.join(''))
  return EXIT.done
}

function keyFileOf(configFile: string): string {
  return loadConfig(configFile, process.env).security.masterKeyFile
}
