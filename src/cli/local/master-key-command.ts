/**
 * `holdfast master-key create`, `add`, `rewrap` and `list`: key files.
 *
 * Owns: the printed text. Rule: only ids and fingerprints are printed, never a key. The commands contact no node, and none but `list`
 * works without the provider of the configuration; a running node reads its key file at its next start.
 */
import { addKey, createKey, rewrapKeys } from '../../access/key-file-changes.ts'
import { type KeyLine, parseKeyLines } from '../../access/key-lines.ts'
import { readKeyFile } from '../../access/master-key-file.ts'
import { loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/types.ts'
import { EXIT } from '../base/exit.ts'
import { printJson, printLine } from '../base/printing.ts'

interface CreateOptions {
  readonly config?: string
  readonly json?: boolean
}

export async function createMasterKey(file: string, options: CreateOptions): Promise<number> {
  const { config, json = false } = options
  const { ids } = await createKey(file, config === undefined ? undefined : securityOf(config).keyProvider)
  const [id = ''] = ids
  if (json) printJson({ file, id })
  else printLine(`${file} contains master key ${id}. ${safeguard(config)}`)
  return EXIT.done
}

function safeguard(config: string | undefined): string {
  const { kind } = config === undefined ? { kind: 'file' } : securityOf(config).keyProvider
  return kind === 'file'
    ? 'Without it all data is lost; with it all data can be read. Keep a copy in a safe place.'
    : `Without this file, or without the key of ${kind} that wraps it, all data is lost. Keep a copy of both in safe places.`
}

export async function addMasterKey(options: {
  readonly config: string
  readonly json?: boolean
}): Promise<number> {
  const { file, ids } = await addKey(securityOf(options.config))
  const [newest = '', ...older] = ids
  if (options.json) printJson({ file, newest, older })
  else
    printLine(
      `${file} contains the new master key ${newest} in front of ${older.join(', ')}. ` +
        'Copy the file to every node and to a safe place, then restart the nodes one after the other: deploy/runbooks/rotate-master-key.md',
    )
  return EXIT.done
}

export async function rewrapMasterKeys(options: {
  readonly config: string
  /** The configuration whose provider opens the lines that are there. */
  readonly from?: string
  readonly json?: boolean
}): Promise<number> {
  const { config, from = config, json = false } = options
  const { keyProvider: to, masterKeyFile } = securityOf(config)
  const { file, ids } = await rewrapKeys({ masterKeyFile, keyProvider: to }, securityOf(from).keyProvider)
  if (json) printJson({ file, provider: to.kind, keys: ids })
  else
    printLine(
      `${file} contains the same keys, ${ids.join(', ')}, ${to.kind === 'file' ? 'themselves' : `wrapped by ${to.kind}`}. ` +
        'Copy the file to every node and to a safe place: deploy/runbooks/move-master-key.md',
    )
  return EXIT.done
}

export async function listMasterKeys(options: { config: string; json?: boolean }): Promise<number> {
  const { masterKeyFile: file } = securityOf(options.config)
  const keys = parseKeyLines(file, await readKeyFile(file)).map((line, at) => ({
    id: line.id,
    fingerprint: line.fingerprint,
    newest: at === 0,
    ...wrapping(line),
  }))
  const lines = keys.map(
    ({ id, fingerprint, newest, provider, version }) =>
      `${id}  ${fingerprint}${newest ? '  newest' : ''}${provider === 'file' ? '' : `  ${provider} version ${version}`}\n`,
  )
  process.stdout.write(options.json === true ? `${JSON.stringify({ keys })}\n` : lines.join(''))
  return EXIT.done
}

function wrapping(line: KeyLine): { readonly provider: string; readonly version: string | null } {
  if (line.form === 'plain') return { provider: 'file', version: null }
  return { provider: line.provider, version: line.wrapped.version }
}

function securityOf(configFile: string): Config['security'] {
  return loadConfig(configFile, process.env).security
}
