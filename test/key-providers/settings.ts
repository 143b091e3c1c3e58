/** Settings of providers as a test needs them. */
import type { KeyProviderSettings } from '../../src/config/types.ts'

type Vault = Extract<KeyProviderSettings, { kind: 'vault' }>
type Kms = Extract<KeyProviderSettings, { kind: 'kms' }>

export const vaultAt = (url: string, credential: string, more: Partial<Vault> = {}): Vault => ({
  kind: 'vault',
  url,
  mount: 'transit',
  keyName: 'holdfast',
  namespace: null,
  ca: null,
  auth: 'token',
  authMount: more.auth ?? 'token',
  role: null,
  credentialFile: credential,
  ...more,
})

export const kmsAt = (url: string, more: Partial<Kms> = {}): Kms => ({
  kind: 'kms',
  url,
  keyName: 'holdfast',
  ca: null,
  cert: null,
  key: null,
  tokenFile: null,
  ...more,
})
