/**
 * The contract of a tenant's data key on the admin plane: shown, exchanged. [docs/adr/0088-exchange-of-tenant-keys.md]
 */
export const encryptionRows = {
  'admin.encryption.get':
    'GET /tenants/{id}/encryption: versions and what is left under the former key; no key [record 88]',
  'admin.encryption.rotate':
    'POST /tenants/{id}/encryption/rotate: 202, an operation; everything reads as before, at the end with one key [record 88]',
  'admin.encryption.rotate.new-writes': 'new writes use the new key at once [record 88]',
  'admin.encryption.rotate.downloads': 'a download that is under way ends well [record 88]',
  'admin.encryption.rotate.dry-run': 'objects, chunks and bytes; nothing is changed [record 88]',
  'admin.encryption.rotate.again':
    'while an exchange is unfinished: 412 precondition_failed, and it names the operation [record 88]',
  'admin.encryption.rotate.reason': 'no reason: 400 reason_required [record 88]',
  'admin.encryption.rotate.role': 'operator; viewer: 403 [record 88]',
  'admin.encryption.rotate.scope': 'a token of another tenant: 403 [record 88]',
  'admin.encryption.rotate.unknown': 'no such tenant: 404 [record 88]',
  'admin.encryption.rotate.level':
    'while a member does not know it: 412 with the blocker version_incompatible [record 88]',
  'admin.encryption.rotate.audited': 'the audit log has one row, with the operation and no key [record 88]',
} as const
