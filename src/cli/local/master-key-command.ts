/**
 * `holdfast master-key create`, `add` and `list`: key files.
 *
 * Owns: the printed text. Rule: only ids and fingerprints are printed, never a key. The commands contact no node; a
 * running node reads its key file at its next start.
 */
import { MasterKey } from '../../access/master-key.ts'
import { loadConfig } from '../../config/load-config.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printLine } from '../base/printing.ts'

export async function createMasterKey(file: string, options: { readonly json?: boolean }): Promise<number> {
  const { id } = await MasterKey.create(file)
  if (options.json) printJson({ file, id })
  else
    printLine(
      `${file} contains master key ${id}. Without it all data is lost; with it all data can be read. Keep a copy in a safe place.`,
    )
  return EXIT.done
}

export async function addMasterKey(options: {
  readonly config: string
  readonly json?: boolean
}): Promise<number> {
  const file = keyFileOf(options.config)
  const [newest, ...older] = (await MasterKey.add(file)).ids
  if (options.json) printJson({ file, newest, older })
  else
    printLine(
      `${file} contains the new master key ${newest} in front of ${older.join(', ')}. ` +
        'Copy the file to every node and to a safe place, then restart the nodes one after the other: deploy/runbooks/rotate-master-key.md',
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
