/**
 * The log-in at an identity provider, with files that refuse a start.
 */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Broken {
  readonly what: string
  readonly code: string
  readonly settings: Readonly<Record<string, string>>
  readonly prepare: (folder: string) => void
}

const LOG_IN = {
  'console.oidc.issuer': 'https://id.example.org',
  'console.oidc.client_id': 'holdfast',
  'console.oidc.rules': '[{group: admins, role: owner}]',
}

/** With settings that do not go together. Null: not given. */
export const LOG_IN_FAULTS = [
  { what: 'a log-in without a client id', settings: { ...LOG_IN, 'console.oidc.client_id': null } },
  { what: 'a log-in without rules', settings: { ...LOG_IN, 'console.oidc.rules': null } },
  { what: 'a log-in without the scope openid', settings: { ...LOG_IN, 'console.oidc.scopes': 'profile' } },
  {
    what: 'an identity provider in plain text',
    settings: { ...LOG_IN, 'console.oidc.issuer': 'http://id.example.org' },
  },
  { what: 'a console in plain text', settings: { ...LOG_IN, 'console.url': 'http://console.example.org' } },
] as const

export function ofLogIn(ca: string, garbage: (folder: string) => void): readonly Broken[] {
  const code = 'log_in_unusable'
  const good = { ...LOG_IN, 'console.oidc.client_secret_file': 'secret', 'console.oidc.ca': ca }
  const prepare = (folder: string): void => {
    garbage(folder)
    writeFileSync(join(folder, 'secret'), 'one-word\n', { mode: 0o600 })
  }
  const wrong = Object.entries({ 'a missing file': 'none', 'a folder': '.', 'other contents': 'garbage' })
  return [
    ...['console.oidc.client_secret_file', 'console.oidc.ca'].flatMap((setting) =>
      wrong.map(([what, file]) => ({
        what: `${setting}: ${what}`,
        code,
        settings: { ...good, [setting]: file },
        prepare,
      })),
    ),
    {
      what: 'console.oidc.client_secret_file: a file that others read',
      code,
      settings: good,
      prepare: (folder) => {
        prepare(folder)
        chmodSync(join(folder, 'secret'), 0o644)
      },
    },
  ]
}
