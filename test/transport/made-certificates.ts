/**
 * Certificates of a cluster for a test, like those of `holdfast certs`, without the openssl command.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { TlsFiles } from '../../cluster/base/types.ts'
import {
  type Authority,
  type KeyPair,
  newAuthority,
  newNodePair,
  readAuthority,
} from '../../src/cli/certificates/authority.ts'

const DAY_MS = 86_400_000

interface Requested {
  /** A cluster other than that of the authority. */
  readonly clusterId?: string
  readonly hosts?: readonly string[]
  /** How many days ago the certificate expired. */
  readonly endedDaysAgo?: number
}

export class MadeCertificates {
  readonly #folder: string
  readonly #pair: KeyPair
  readonly #authority: Authority
  #count = 0

  constructor(t: Test, clusterId = 'test-cluster') {
    this.#folder = mkdtempSync(join(tmpdir(), 'holdfast-made-'))
    t.teardown(() => rmSync(this.#folder, { recursive: true, force: true }))
    const now = Date.now()
    // Old enough to issue certificates for the past.
    this.#pair = newAuthority(clusterId, { now: now - 100 * DAY_MS, days: 200 })
    this.#authority = readAuthority(this.#pair, now)
    writeFileSync(this.ca, this.#pair.certificate)
  }

  get ca(): string {
    return join(this.#folder, 'ca.pem')
  }

  get caText(): string {
    return this.#pair.certificate
  }

  pair(
    nodeId: string,
    { hosts = [], endedDaysAgo, clusterId = this.#authority.clusterId }: Requested = {},
  ): KeyPair {
    const start = endedDaysAgo === undefined ? 0 : endedDaysAgo + 1
    return newNodePair(
      { ...this.#authority, clusterId },
      { nodeId, hosts },
      { now: Date.now() - start * DAY_MS, days: endedDaysAgo === undefined ? 30 : 1 },
    )
  }

  /** Separate files, which `put` may change. */
  issue(nodeId: string, requested: Requested = {}): TlsFiles {
    const base = join(this.#folder, `${nodeId}-${this.#count++}`)
    const files = { ca: this.ca, cert: `${base}.pem`, key: `${base}.key` }
    put(files, this.pair(nodeId, requested))
    return files
  }
}

export function put(files: Pick<TlsFiles, 'cert' | 'key'>, pair: KeyPair): void {
  writeFileSync(files.cert, pair.certificate)
  writeFileSync(files.key, pair.key)
}
