/**
 * Makes the receiver that the settings name.
 *
 * Owns: reading its files. Rule: a file that cannot be used refuses the start, with the setting that names it.
 */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { StartError } from '../../../cluster/index.ts'
import type { ExportTarget, TargetTls } from './export-target.ts'
import { HttpTarget, otlpForm, webhookForm } from './http-target.ts'
import { SyslogTarget } from './syslog-target.ts'

/** Paths of files; null: not given. */
export interface ExportSettings {
  readonly kind: 'syslog' | 'otlp' | 'webhook'
  readonly url: string
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  readonly secretFile: string | null
}

const SECRET_BYTES_MIN = 24
const SECRET_BYTES_MAX = 64
/** What the value of a header may hold. */
const PRINTABLE = /^[\x20-\x7e]{1,4096}$/

/** Throws StartError `audit_export_unusable`. `now`: milliseconds since 1970. */
export async function openTarget(settings: ExportSettings, now: () => number): Promise<ExportTarget> {
  const { kind, url } = settings
  const tls = await readTls(settings)
  if (kind === 'syslog') return new SyslogTarget(url, tls)
  const secret = await readText('secret_file', settings.secretFile)
  if (secret !== null && !PRINTABLE.test(secret))
    throw unusable('audit.export.secret_file is empty, or does not hold one line of printable characters')
  const form = kind === 'otlp' ? otlpForm(url, secret) : webhookForm(url, webhookSecret(secret))
  return new HttpTarget(form, tls, now)
}

async function readTls({ ca, cert, key }: ExportSettings): Promise<TargetTls> {
  const texts = {
    ca: await readText('ca', ca),
    cert: await readText('cert', cert),
    key: await readText('key', key),
  }
  examine(texts)
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null))
}

/** Otherwise each delivery would fail, and the log would stay here without a word of why. */
function examine({ ca, cert, key }: Readonly<Record<'ca' | 'cert' | 'key', string | null>>): void {
  try {
    if (ca !== null) new X509Certificate(ca)
  } catch (cause) {
    throw unusable('audit.export.ca names a file that contains no PEM certificate', cause)
  }
  if (cert === null || key === null) return
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw unusable('audit.export.cert and audit.export.key do not name a PEM certificate and its key', cause)
  }
}

async function readText(setting: string, path: string | null): Promise<string | null> {
  if (path === null) return null
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (cause) {
    throw unusable(`audit.export.${setting} names a file that cannot be read`, cause)
  }
}

/** [Standard Webhooks 1.0: 24 to 64 bytes] */
function webhookSecret(text: string | null): Uint8Array {
  const secret = Buffer.from(/^whsec_([A-Za-z0-9+/]+=*)$/.exec(text ?? '')?.[1] ?? '', 'base64')
  if (secret.length >= SECRET_BYTES_MIN && secret.length <= SECRET_BYTES_MAX) return secret
  throw unusable('audit.export.secret_file does not hold "whsec_" and 24 to 64 bytes in base64')
}

function unusable(message: string, cause?: unknown): StartError {
  const hint = 'Correct the setting or the file; docs/guide/audit.md shows each form.'
  return new StartError('audit_export_unusable', message, { hint, cause })
}
