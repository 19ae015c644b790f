import { gql } from '@apollo/client';
import type { TypedDocumentNode } from '@apollo/client';

export interface Order {
  readonly __typename: 'Order';
  readonly orderId: string;
  readonly status: 'PLACED' | 'PAID' | 'SHIPPED';
  readonly total: string;
  readonly updatedAt: string | null;
}

export const ORDER: TypedDocumentNode<Order> = gql`
  fragment OrderFields on Order {
    orderId
    status
    total
    updatedAt
  }
`;

/** The last state of an order. */
export const READ_ORDER: TypedDocumentNode<{ order: Order | null }, { orderId: string }> = gql`
  query ReadOrder($orderId: ID!) {
    order(orderId: $orderId) {
      ...OrderFields
    }
  }
  ${ORDER}
`;

export const ORDER_UPDATED: TypedDocumentNode<{ orderUpdated: Order | null }, { orderId: string }> = gql`
  subscription OrderUpdated($orderId: ID!) {
    orderUpdated(orderId: $orderId) {
      ...OrderFields
    }
  }
  ${ORDER}
`;

export const ORDERS_UPDATED: TypedDocumentNode<{ ordersUpdated: Order | null }, { minTotal: number }> = gql`
  subscription OrdersUpdated($minTotal: Float) {
    ordersUpdated(minTotal: $minTotal) {
      ...OrderFields
    }
  }
  ${ORDER}
`;

export const PLACE_ORDER: TypedDocumentNode<{ placeOrder: { orderId: string } }, { total: string }> = gql`
  mutation PlaceOrder($total: String!) {
    placeOrder(total: $total) {
      orderId
    }
  }
`;
