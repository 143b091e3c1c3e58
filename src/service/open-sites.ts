/**
 * The connections of a node to the other sites of its buckets.
 */
import type { Cluster } from '../../cluster/index.ts'
import type { MasterKey } from '../access/master-key.ts'
import { type SiteSecrets, siteSecretsOf } from '../access/site-secrets.ts'
import type { Config } from '../config/types.ts'
import type { OpenSite } from '../operations/base/remote-store.ts'
import { SiteConnections } from '../workers/sites/s3-requests.ts'
import { S3Site } from '../workers/sites/s3-site.ts'
import { systemResolve } from '../workers/webhooks/guarded-connector.ts'

export interface OpenSites {
  readonly siteSecrets: SiteSecrets
  readonly openSite: OpenSite
  /** Ends the connections to all of them. */
  readonly closeSites: () => Promise<void>
}

export function openSites(
  { notifications }: Pick<Config, 'notifications'>,
  { time, masterKey }: { readonly time: Pick<Cluster['time'], 'now'>; readonly masterKey: MasterKey },
): OpenSites {
  const outside = { resolve: systemResolve(), settings: notifications, now: () => time.now() }
  const connections = new SiteConnections(outside)
  return {
    siteSecrets: siteSecretsOf(masterKey),
    openSite: ({ tenantId, target }, secretKey, signal) => {
      const { accessKeyId } = target
      const credentials = { accessKeyId, secretKey, sessionToken: null }
      return new S3Site(connections, { tenantId, target, credentials, signal })
    },
    closeSites: () => connections.close(),
  }
}
