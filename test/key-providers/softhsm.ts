/**
 * A security module in software, where SoftHSM and OpenSC are installed (Debian: softhsm2, opensc): a token with two RSA pairs.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { KeyProviderSettings } from '../../src/config/types.ts'
import { temporaryFolder } from '../helpers/process-cluster.ts'

const MODULES = ['/usr/lib/softhsm/libsofthsm2.so', '/usr/lib64/softhsm/libsofthsm2.so']
const module = MODULES.find((path) => existsSync(path)) ?? null

/** Why there is none; false: there is one. */
export const NO_SOFTHSM =
  module === null || spawnSync('pkcs11-tool', ['--help']).error !== undefined
    ? 'SoftHSM and pkcs11-tool are not on this machine'
    : false

export const PIN = '8402916375'

export interface SoftHsm {
  readonly settings: Extract<KeyProviderSettings, { kind: 'pkcs11' }>
  readonly pinFile: string
}

export function makeSoftHsm(t: Test): SoftHsm {
  const folder = temporaryFolder(t)
  const tokens = join(folder, 'tokens')
  mkdirSync(tokens)
  const conf = join(folder, 'softhsm2.conf')
  writeFileSync(conf, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`)
  const before = process.env['SOFTHSM2_CONF']
  process.env['SOFTHSM2_CONF'] = conf
  t.teardown(() => {
    if (before === undefined) delete process.env['SOFTHSM2_CONF']
    else process.env['SOFTHSM2_CONF'] = before
  })
  const pins = ['--pin', PIN, '--so-pin', '11223344']
  execFileSync('softhsm2-util', ['--init-token', '--free', '--label', 'holdfast', ...pins])
  const login = ['--module', module ?? '', '--token-label', 'holdfast', '--login', '--pin', PIN]
  for (const id of ['01', '02']) {
    const pair = ['--keypairgen', '--key-type', 'rsa:2048', '--id', id, '--label', `pair-${id}`]
    execFileSync('pkcs11-tool', [...login, ...pair], { stdio: 'pipe' })
  }
  const pinFile = join(folder, 'pin')
  writeFileSync(pinFile, `${PIN}\n`, { mode: 0o600 })
  const settings = {
    kind: 'pkcs11',
    module: module ?? '',
    tokenLabel: 'holdfast',
    keyId: '01',
    pinFile,
  } as const
  return { settings, pinFile }
}
