import { BadRequestException, Body, Controller, Get, Inject, NotFoundException, Param } from '@nestjs/common';
import { Header, Post, Redirect } from '@nestjs/common';
import { isTemporary, ProblemError, type Client } from '@pv-onboarding/client';
import { CustomersStore } from './customers.store.js';
import { customerPage, listPage } from './pages.js';

/** An app of your own has a sign-in, and a protection of its forms. */
@Controller()
export class CustomersController {
  constructor(
    @Inject('PV_CLIENT') private readonly client: Client,
    private readonly customers: CustomersStore,
  ) {}

  @Get()
  @Header('content-type', 'text/html; charset=utf-8')
  async list(): Promise<string> {
    return listPage(await this.customers.list());
  }

  /** Registers a customer and starts a session. The same form again gets the same customer and session. */
  @Post('customers')
  @Redirect()
  async onboard(@Body() { reference = '', ean = '' }: Readonly<Record<string, string>>) {
    const started = await this.start(reference, ean);
    await this.customers.save({ ...started, ean });
    return { url: `/customers/${encodeURIComponent(started.reference)}`, statusCode: 303 };
  }

  @Get('customers/:reference')
  @Header('content-type', 'text/html; charset=utf-8')
  async show(@Param('reference') reference: string): Promise<string> {
    const customer = await this.customers.find(reference);
    if (customer === null) throw new NotFoundException();
    // The link gives access to an installation, so it is read for its owner, and not stored.
    const id = customer.sessionId;
    const link =
      id && (await this.client.GET('/api/v1/onboarding/pv/{id}', { params: { path: { id } } })).data.startUrl;
    return customerPage(customer, link);
  }

  /**
   * Returns the id of the session, or null while nobody can know whether the customer is registered. The service removes blanks around a
   * reference, and its events have this form.
   */
  private async start(tenantReference: string, ean: string) {
    try {
      const body = { tenantReference, gridLocations: [{ ean }] };
      const { data: user } = await this.client.POST('/api/v1/users', { body });
      const reference = user.tenantReference;
      if (user.object === 'registration') return { reference, sessionId: null };
      const params = { path: { id: user.gridLocations[0]!.id } };
      const { data: session } = await this.client.POST('/api/v1/onboarding/pv/{id}', { params, body: {} });
      return { reference, sessionId: session.id };
    } catch (error) {
      if (!(error instanceof ProblemError) || isTemporary(error)) throw error;
      throw new BadRequestException(error.errors.map(({ message }) => message).join('; ') || error.detail);
    }
  }
}
