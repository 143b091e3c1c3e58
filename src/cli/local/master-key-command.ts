/**
 * `holdfast master-key create`, `add` and `list`: key files.
 *
 * Owns: what is printed. Rule: ids and fingerprints only; a key is never shown. None of them talks to a node, and a
 * running one reads its key file at its next start.
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
      `${file} holds master key ${id}. Whoever loses it loses all data; whoever has it can read all data.`,
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
      `${file} holds the new master key ${newest} in front of ${older.join(', ')}. ` +
        'Copy the file to every node and a safe place, then restart the nodes one after the other: deploy/runbooks/rotate-master-key.md',
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
