/**
 * A certificate authority for one test, made by the openssl command.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsFiles } from '../../cluster/base/types.ts'

/** null: the command is not installed. */
export function opensslVersion(): string | null {
  try {
    return execFileSync('openssl', ['version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return null
  }
}

export class TestAuthority {
  readonly #directory: string
  readonly #name: string

  constructor(t: { teardown(callback: () => void): unknown }, name: string) {
    this.#directory = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
    this.#name = name
    t.teardown(() => rmSync(this.#directory, { recursive: true, force: true }))
    this.#openssl(
      'req',
      '-x509',
      ...KEY,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    )
  }

  get ca(): string {
    return join(this.#directory, 'ca.pem')
  }

  /** `san` as openssl writes it, `DNS:a,IP:127.0.0.1`; empty for none. Negative `days`: it has expired. */
  issue(options: { readonly commonName: string; readonly san?: string; readonly days?: number }): TlsFiles {
    const { days = 2 } = options
    const base = `leaf-${options.commonName}-${Buffer.from(options.san ?? '').toString('hex')}-${days}`
    this.#openssl(
      'req',
      '-new',
      ...KEY,
      '-keyout',
      `${base}.key`,
      '-out',
      `${base}.csr`,
      '-subj',
      `/CN=${options.commonName}`,
    )
    const extensions = ['basicConstraints=CA:FALSE', 'extendedKeyUsage=serverAuth,clientAuth']
    if (options.san !== undefined) extensions.push(`subjectAltName=${options.san}`)
    writeFileSync(join(this.#directory, `${base}.ext`), extensions.join('\n'))
    const signing = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      String(days),
      '-extfile',
      `${base}.ext`,
    ]
    this.#openssl('x509', '-req', '-in', `${base}.csr`, '-out', `${base}.pem`, ...signing)
    return {
      ca: this.ca,
      cert: join(this.#directory, `${base}.pem`),
      key: join(this.#directory, `${base}.key`),
    }
  }

  #openssl(...args: readonly string[]): void {
    try {
      execFileSync('openssl', args, { cwd: this.#directory, stdio: ['ignore', 'ignore', 'pipe'] })
    } catch (cause) {
      throw new Error(`openssl could not act for authority ${this.#name}`, { cause })
    }
  }
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
