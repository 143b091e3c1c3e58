/**
 * Makes the provider that the settings name.
 *
 * Owns: which of its files are looked at. Rule: nothing here uses the network or runs a program, so `holdfast config check` asks the same.
 */
import type { KeyProviderSettings } from '../../config/types.ts'
import type { KeyProvider } from './key-provider.ts'
import { KmsProvider } from './kms-provider.ts'
import { Pkcs11Provider } from './pkcs11-provider.ts'
import { readCredential, readProviderTls, requireModule } from './provider-files.ts'
import { VaultProvider } from './vault-provider.ts'

/** Null: the key file holds the keys themselves. Throws StartError `key_provider_unusable`. */
export async function openProvider(settings: KeyProviderSettings): Promise<KeyProvider | null> {
  if (settings.kind === 'file') return null
  if (settings.kind === 'vault') {
    const tls = await readProviderTls('security.vault', { ca: settings.ca, cert: null, key: null })
    await readCredential('security.vault.credential_file', settings.credentialFile)
    return new VaultProvider(settings, tls, () => performance.now())
  }
  if (settings.kind === 'pkcs11') {
    await requireModule('security.pkcs11.module', settings.module)
    await readCredential('security.pkcs11.pin_file', settings.pinFile)
    return new Pkcs11Provider(settings)
  }
  const tls = await readProviderTls('security.kms', settings)
  if (settings.tokenFile !== null) await readCredential('security.kms.token_file', settings.tokenFile)
  return new KmsProvider(settings, tls)
}
