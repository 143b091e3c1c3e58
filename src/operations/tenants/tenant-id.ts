/**
 * What a tenant may be called in paths and tokens, and how such an id is made from a name. [decisions 11]
 *
 * Rule: a text that is no slug is never handed to the store.
 */
const TENANT_ID = /^[a-z0-9-]{2,63}$/
const TENANT_ID_CHARACTERS_MAX = 63

export const isTenantId = (text: string): boolean => TENANT_ID.test(text)

/** "Acme Inc." -> "acme-inc"; may be too short to be an id. */
export function tenantIdFromName(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{Mark}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, TENANT_ID_CHARACTERS_MAX)
    .replace(/^-+|-+$/g, '')
}
