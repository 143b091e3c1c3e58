/**
 * The provider of the master key as one part of the configuration.
 *
 * Owns: which settings a provider needs. Rules: settings of a provider that is not chosen are not looked at, so that a move to it or back
 * is prepared in the file; a credential never travels in plain text beyond this machine.
 */
import { isPlainHttpElsewhere } from '../base/plain-http.ts'
import { FaultError } from './config-fault.ts'
import type { Reader } from './reader.ts'
import type { SettingName } from './settings.ts'
import type { KeyProviderSettings } from './types.ts'

/** Throws FaultError. */
export function keyProvider(read: Reader): KeyProviderSettings {
  switch (read.text('security.master_key_provider')) {
    case 'vault':
      return vault(read)
    case 'kms':
      return kms(read)
    case 'pkcs11':
      return pkcs11(read)
    default:
      return { kind: 'file' }
  }
}

function vault(read: Reader): KeyProviderSettings {
  const url = urlOf(read, 'security.vault.url', 'vault')
  const auth = read.text('security.vault.auth') as 'token' | 'approle' | 'jwt' | 'kubernetes'
  const role = read.textOrNull('security.vault.role')
  if (auth !== 'token' && role === null)
    throw new FaultError(
      `security.vault.auth: ${auth} needs security.vault.role`,
      auth === 'approle' ? 'Give the role id.' : 'Give the name of the role.',
    )
  return {
    kind: 'vault',
    url,
    mount: read.text('security.vault.mount'),
    keyName: needed(read, 'security.vault.key_name', 'vault'),
    namespace: read.textOrNull('security.vault.namespace'),
    ca: read.textOrNull('security.vault.ca'),
    auth,
    authMount: read.textOrNull('security.vault.auth_mount') ?? auth,
    role,
    credentialFile: needed(read, 'security.vault.credential_file', 'vault'),
  }
}

function kms(read: Reader): KeyProviderSettings {
  const url = urlOf(read, 'security.kms.url', 'kms')
  const cert = read.textOrNull('security.kms.client_cert')
  const key = read.textOrNull('security.kms.client_key')
  const tokenFile = read.textOrNull('security.kms.token_file')
  if ((cert === null) !== (key === null))
    throw new FaultError(
      'security.kms needs client_cert and client_key, got only one of them',
      'Give both or none.',
    )
  if (cert === null && tokenFile === null)
    throw new FaultError(
      'security.kms has neither token_file nor client_cert and client_key',
      'Give one of them: a service that opens keys for everyone protects nothing.',
    )
  if (cert !== null && url.startsWith('http:'))
    throw new FaultError(
      'security.kms.client_cert is given, and security.kms.url is plain HTTP',
      'Certificates are shown over TLS only: give an https:// URL.',
    )
  const keyName = needed(read, 'security.kms.key_name', 'kms')
  return { kind: 'kms', url, keyName, ca: read.textOrNull('security.kms.ca'), cert, key, tokenFile }
}

function pkcs11(read: Reader): KeyProviderSettings {
  return {
    kind: 'pkcs11',
    module: needed(read, 'security.pkcs11.module', 'pkcs11'),
    tokenLabel: needed(read, 'security.pkcs11.token_label', 'pkcs11'),
    keyId: needed(read, 'security.pkcs11.key_id', 'pkcs11'),
    pinFile: needed(read, 'security.pkcs11.pin_file', 'pkcs11'),
  }
}

function needed(read: Reader, name: SettingName, provider: string): string {
  if (read.has(name)) return read.text(name)
  throw new FaultError(
    `security.master_key_provider: ${provider} needs ${name}`,
    'docs/guide/master-key.md shows a whole configuration.',
  )
}

/** Without a slash at its end. */
function urlOf(read: Reader, name: SettingName, provider: string): string {
  const url = needed(read, name, provider)
  if (isPlainHttpElsewhere(new URL(url)))
    throw new FaultError(
      `${name} is plain HTTP beyond this machine`,
      'Give an https:// URL: the master key is in the answers.',
    )
  return url.replace(/\/+$/, '')
}
