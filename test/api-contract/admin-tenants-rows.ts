/**
 * The contract of tenants on the admin plane: created, listed, disabled, deleted.
 */
export const adminTenantRows = {
  'admin.tenants.list': 'GET /tenants: a global token sees all, a scoped one its own [admin: Endpoints]',
  'admin.tenants.create': 'POST /tenants: 201, Location, the record and no other member [decisions 11]',
  'admin.tenants.create.id': 'a slug, made from the name if absent, else 400 [decisions 11]',
  'admin.tenants.create.taken': 'an id that is or was taken: 409 already_exists [decisions 10]',
  'admin.tenants.create.role': 'operator; viewer and scoped tokens: 403 [admin: Authentication]',
  'admin.tenants.create.dry-run': 'the plan, and nothing is made [admin: States]',
  'admin.tenants.get': 'GET /tenants/{id}: the record; 404 when there is none [admin: Endpoints]',
  'admin.tenants.get.scope': 'a token of another tenant: 403, never 404 [admin: Authentication 4]',
  'admin.tenants.disable':
    'POST /tenants/{id}/disable: 200, status disabled, time and reason [admin: States] [decisions 11]',
  'admin.tenants.disable.keys': 'its active access keys are revoked [admin: States]',
  'admin.tenants.disable.data': 'the data plane answers its tokens with 401 tenant_disabled [decisions 16]',
  'admin.tenants.disable.again': 'again: 200, the first reason stays [decisions 11]',
  'admin.tenants.disable.reason': 'no reason: 400 reason_required [admin: Destructive-operation body]',
  'admin.tenants.disable.role': 'owner; viewer and operator: 403 [admin: Endpoints]',
  'admin.tenants.disable.scope': 'an owner of another tenant: 403 [admin: Authentication 4]',
  'admin.tenants.disable.unknown': 'no such tenant: 404 [admin: Errors 404]',
  'admin.tenants.disable.dry-run': 'the plan with all its members, and nothing is applied [admin: Endpoints]',
  'admin.tenants.delete':
    'POST /tenants/{id}/delete: 202, an operation, then status deleted and deletedAt [admin: States] [decisions 0]',
  'admin.tenants.delete.everything': 'only its tombstone and the audit log are left [admin: States]',
  'admin.tenants.delete.again': 'again: the same operation [decisions 11]',
  'admin.tenants.delete.reason': 'no reason: 400 reason_required [admin: Destructive-operation body]',
  'admin.tenants.delete.confirm':
    'confirm missing or not the id: 400 confirm_mismatch [admin: Destructive-operation body]',
  'admin.tenants.delete.active': 'not disabled first: 412 precondition_failed [admin: States] [decisions 11]',
  'admin.tenants.delete.retention':
    'a retention that has not ended: 412 with a blocker, count and earliest release [admin: States] [decisions 11]',
  'admin.tenants.delete.legal-hold':
    'a legal hold: 412 with a blocker and count [admin: States] [decisions 11]',
  'admin.tenants.delete.released': 'a retention that has ended gates nothing [admin: States]',
  'admin.tenants.delete.fail-closed': 'a lock that cannot be read gates it [admin: Errors 412]',
  'admin.tenants.delete.role': 'owner; viewer and operator: 403 [admin: Endpoints]',
  'admin.tenants.delete.scope': 'an owner of another tenant: 403 [admin: Authentication 4]',
  'admin.tenants.delete.unknown': 'no such tenant: 404 [admin: Errors 404]',
  'admin.tenants.delete.dry-run':
    'the plan with all its members, allowed, and the blockers; nothing is applied [admin: Endpoints] [decisions 11]',
  'admin.tenants.delete.audited': 'the audit log of a deleted tenant stays [admin: What the service does 4]',
} as const
