import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestAdmission } from '../../../src/gateway/http/request-admission.ts';
import type { RequestAdmissionLimits } from '../../../src/gateway/http/request-admission.ts';

const NONE = { maxInFlight: 0, maxPerSecond: 0 };

function admissionWith(limits: Partial<RequestAdmissionLimits>, isMemoryShort = () => false): RequestAdmission {
  return new RequestAdmission(
    { maxInFlight: 0, maxInFlightWithoutUser: 0, user: NONE, address: NONE, ...limits },
    isMemoryShort,
  );
}

/** The limit that a request of this client reaches; it ends at once. */
function limitOf(admission: RequestAdmission, user: string | undefined, address = 'a'): string | undefined {
  const request = admission.open(address);
  request.charge(user);
  request.close();
  return request.limit;
}

describe('RequestAdmission', () => {
  it('refuses by the limits of the pod: requests in flight, and memory', () => {
    let isShort = false;
    const admission = admissionWith({ maxInFlight: 2 }, () => isShort);
    const [first] = [admission.open('a'), admission.open('b')];
    assert.equal(admission.limit, 'requests');
    first.close();
    assert.equal(admission.limit, undefined);
    isShort = true;
    assert.equal(admission.limit, 'request_memory');
    assert.equal(admission.inFlight, 1);
  });

  it('counts the requests in flight of a user, and those without one by address', () => {
    const admission = admissionWith({ user: { ...NONE, maxInFlight: 1 }, address: { ...NONE, maxInFlight: 2 } });
    const ofIda = admission.open('a');
    assert.ok(ofIda.charge('ida'));
    assert.equal(limitOf(admission, 'ida', 'b'), 'user_requests');
    assert.equal(limitOf(admission, 'ben', 'a'), undefined);
    const anonymous = [admission.open('a'), admission.open('a')];
    for (const request of anonymous) assert.ok(request.charge(undefined));
    assert.equal(limitOf(admission, undefined, 'a'), 'address_requests');
    assert.equal(limitOf(admission, undefined, 'b'), undefined);
    for (const request of [ofIda, ...anonymous]) request.close();
    assert.equal(limitOf(admission, 'ida'), undefined);
    assert.equal(limitOf(admission, undefined), undefined);
    assert.equal(admission.inFlight, 0);
  });

  it('counts the requests without a user of all addresses together', () => {
    const admission = admissionWith({ maxInFlightWithoutUser: 2 });
    const [first] = ['a', 'b'].map((address) => {
      const request = admission.open(address);
      assert.ok(request.charge(undefined));
      return request;
    });
    assert.equal(limitOf(admission, undefined, 'c'), 'requests');
    assert.equal(limitOf(admission, 'ida', 'c'), undefined);
    first!.close();
    assert.equal(limitOf(admission, undefined, 'c'), undefined);
  });

  it('admits ten seconds of a rate at once, for each user and each address by itself', () => {
    const admission = admissionWith({ user: { ...NONE, maxPerSecond: 2 }, address: { ...NONE, maxPerSecond: 1 } });
    for (let i = 0; i < 20; i++) assert.equal(limitOf(admission, 'ida'), undefined);
    assert.equal(limitOf(admission, 'ida'), 'user_request_rate');
    assert.equal(limitOf(admission, 'ben'), undefined);
    for (let i = 0; i < 10; i++) assert.equal(limitOf(admission, undefined), undefined);
    assert.equal(limitOf(admission, undefined), 'address_request_rate');
    assert.equal(limitOf(admission, undefined, 'b'), undefined);
  });

  it('charges a request once', () => {
    const admission = admissionWith({ address: { ...NONE, maxPerSecond: 1 }, user: { ...NONE, maxInFlight: 1 } });
    const first = admission.open('a');
    assert.ok(first.charge('ida'));
    assert.ok(first.charge(undefined));
    const second = admission.open('a');
    assert.ok(!second.charge('ida'));
    assert.ok(!second.charge(undefined), 'a refused request stays refused');
    for (let i = 0; i < 10; i++) assert.equal(limitOf(admission, undefined), undefined);
  });

  it('charges no request that has ended', () => {
    const admission = admissionWith({ user: { maxInFlight: 1, maxPerSecond: 1 } });
    for (let i = 0; i < 20; i++) {
      const request = admission.open('a');
      request.close();
      assert.ok(!request.charge('ida'));
    }
    assert.equal(limitOf(admission, 'ida'), undefined);
  });

  it('forgets the rates of the oldest clients beyond 10,000, and of addresses never those of users', () => {
    const admission = admissionWith({ user: { ...NONE, maxPerSecond: 1 }, address: { ...NONE, maxPerSecond: 1 } });
    for (let i = 0; i < 10; i++) for (const user of ['ida', undefined]) limitOf(admission, user);
    assert.equal(limitOf(admission, undefined), 'address_request_rate');
    for (let i = 0; i < 10_000; i++) limitOf(admission, undefined, `b${i}`);
    assert.equal(limitOf(admission, undefined), undefined, 'it has the whole burst again');
    assert.equal(limitOf(admission, 'ida'), 'user_request_rate');
  });

  it('limits nothing with 0', () => {
    const admission = admissionWith({});
    const requests = Array.from({ length: 5000 }, () => admission.open('a'));
    assert.ok(requests.every((request) => request.charge(undefined)));
    assert.equal(admission.limit, undefined);
  });
});
